#!/bin/bash
# make.sh [NAME...]   rebuilds the fixtures of this folder (see README.md)
#
# NAME is VERSION or VERSION-VARIANT; without one, all of them.  Needs the real
# servers (../servers/install.sh installs them), python3 and zstd.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
SERVERS=$HERE/../servers
for p in python3 zstd tar; do
    command -v $p >/dev/null || { echo "make.sh: $p is missing: apt-get install $p" >&2; exit 1; }
done
ALL=(mysql-5.6.24 mysql-5.7.22 mysql-8.0.12 mysql-8.0.33 mysql-9.7
    mariadb-10.1.13 mariadb-10.2.11 mariadb-10.5.23 mariadb-11.4.5 mariadb-11.8
    mysql-5.7.22-page8k mysql-5.7.22-none mysql-5.7.22-innodb mysql-8.0.33-page4k mysql-8.0.33-page32k
    mariadb-10.2.11-innodb mariadb-10.5.23-page64k mariadb-11.4.5-page4k mariadb-11.8-crc32
    mysql-5.6.24-zip mysql-8.0.33-zip mysql-9.7-zip mariadb-10.5.23-zip
    mariadb-10.11-algorithms mariadb-10.11-algorithms-crc32
    mysql-8.0.33-tde-component mysql-8.0.33-tde-plugin mysql-9.7-tde-component
    mariadb-10.5.23-enc-crc32 mariadb-10.11-enc-ctr mariadb-10.11-enc-all mariadb-11.8-enc
    mysql-5.6.24-shared mysql-5.7.22-shared-ibdata mysql-8.0.12-shared mysql-8.0.33-shared-ibdata
    mysql-8.0.33-upgraded-shared)
[ $# -gt 0 ] || set -- "${ALL[@]}"
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
for name in "$@"; do
    version=$name variant=
    args=(--small)
    case $name in
    *-zip)
        version=${name%-*}
        args+=(--only '^92_') ;;
    *-algorithms*)
        "$SERVERS/install.sh" mariadb-providers
        version=${name%%-algorithms*}
        variant=${name#*-algorithms}
        variant=${variant#-}
        args+=(--torture "$HERE/../torture/algorithms" --only '^93_') ;;
    *-upgraded-shared)
        version=${name%-upgraded-shared}
        variant=shared
        "$SERVERS/install.sh" mysql-5.7.22
        "$SERVERS/build_corpus.sh" --small --torture "$HERE/../torture/shared" mysql-5.7.22 shared "$WORK/mysql-5.7.22-shared"
        args+=(--upgrade "$WORK/mysql-5.7.22-shared") ;;
    *-shared | *-shared-*)
        variant=shared${name##*-shared}
        version=${name%-"$variant"}
        args+=(--torture "$HERE/../torture/shared") ;;
    *-tde-* | *-enc | *-enc-*)
        # of VERSION-VARIANT, both with dashes, the variant begins here
        variant=${name#*-*-}
        version=${name%-"$variant"}
        args+=(--torture "$HERE/../torture/encrypted") ;;
    *-page* | *-none | *-innodb | *-crc32)
        version=${name%-*}
        variant=${name##*-}
        # a variant is about pages, not about types or DDL
        args+=(--only '^(10|30|40)_') ;;
    *)
        # every character set once for each family's old and new servers is enough; 92_ has archives of its own
        case $version in
        mysql-8.0.12 | mysql-9.7 | mariadb-10.1.13 | mariadb-10.2.11 | mariadb-11.4.5) args+=(--only '^(?!20_|92_)') ;;
        *) args+=(--only '^(?!92_)') ;;
        esac ;;
    esac
    "$SERVERS/install.sh" "$version"
    "$SERVERS/build_corpus.sh" "${args[@]}" "$version" ${variant:+"$variant"} "$WORK/$name"
    python3 "$HERE/trim.py" "$WORK/$name"
    tar -C "$WORK" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@1700000000 -cf - "$name" |
        zstd -q -f --ultra -22 --long=27 -T2 -o "$HERE/$name.tar.zst"
    rm -rf "${WORK:?}/$name"
    ls -l "$HERE/$name.tar.zst" | awk '{print $5, $9}'
done
