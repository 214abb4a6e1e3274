#!/bin/bash
# server.sh VERSION COMMAND DIR [ARGS...]
#
# Drives one real server (see install.sh for VERSION) that keeps everything it
# has in DIR: DIR/data, its pid, socket, log and temporary files.
#
#   init  DIR [OPTIONS...]  a new data directory; OPTIONS are remembered and
#                           used at every start (page size, checksums, ...)
#   start DIR [OPTIONS...]  starts it, waits until it answers
#   sql   DIR [ARGS...]     the command line client (ARGS: -e 'SELECT 1' db ...)
#   stop  DIR               clean shutdown of that server, by its pid
#   kill  DIR               an unclean end of that server, by its pid
#   run   DIR [OPTIONS...]  init unless it is there, then start
#   socket DIR              prints the path of the socket
#   dump  DIR [ARGS...]     mariadb-dump
#   mysqldump DIR [ARGS...] the server's own mysqldump (mysql-9.7)
#   binlog DIR [ARGS...]    the server's own reader of binary logs
#   version DIR             the server's own version line (needs no init)
#
# One option is this script's own: --keyring-component=FILE loads MySQL's
# component_keyring_file with its keys in FILE.
#
# No option file is read, no network is opened.  Environment: INNOSCAN_SERVERS
# (where install.sh unpacked), INNOSCAN_DEADLINE (seconds to wait for start and
# stop, 120), LAUNCH (a command put before the server, such as numactl).
set -euo pipefail

[ $# -ge 3 ] || { sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 1; }
V=$1 CMD=$2 DIR=$3
shift 3
ROOT=${INNOSCAN_SERVERS:-$HOME/.cache/innoscan/servers}
S=$ROOT/$V
DEADLINE=${INNOSCAN_DEADLINE:-120}
die() { echo "server.sh: $V: $*" >&2; exit 1; }
[ -e "$S" ] || die "not installed: $(dirname "$0")/install.sh $V"
mkdir -p "$DIR/tmp"
DIR=$(cd "$DIR" && pwd)
DATA=$DIR/data
SOCK=$DIR/s.sock
# a unix socket's path has at most 107 bytes
[ ${#SOCK} -lt 100 ] || SOCK=/tmp/innoscan-$(printf %s "$DIR" | cksum | tr -d ' ').sock

PRE=() LIBS='' OPTS=() BOOT=script
LOG_SIZE=(--innodb-log-file-size=128M --innodb-log-files-in-group=2)
case $V in
mysql-5.6.24)
    BIN=$S/mysqld SHARE=$S/share LIBS=$S BOOT=copy
    OPTS=(--innodb-file-format=Barracuda --innodb-large-prefix=ON --explicit-defaults-for-timestamp) ;;
mysql-5.6.14)
    BIN=$S/bin/mysqld SHARE=$S/share
    OPTS=(--innodb-file-format=Barracuda --innodb-large-prefix=ON --explicit-defaults-for-timestamp) ;;
mysql-5.7.* | mysql-8.0.12)
    BIN=$S/bin/mysqld SHARE=$S/share BOOT=initialize OPTS=(--secure-file-priv=)
    case $V in mysql-8*) OPTS+=(--mysqlx=OFF) ;; esac ;;
mysql-8.0.33)
    BIN=$S/bin/mysqld SHARE=$S/share BOOT=initialize LOG_SIZE=(--innodb-redo-log-capacity=256M)
    OPTS=(--secure-file-priv= --mysqlx=OFF --plugin-dir="$S/lib/plugin") ;;
mysql-9.7 | mysql-9.7-debug)
    R=$(cd "$S/root" && pwd -P)
    PRE=("$R/lib64/ld-linux-x86-64.so.2" --library-path
        "$R/usr/lib/x86_64-linux-gnu:$R/usr/lib/x86_64-linux-gnu/mysql/private:$R/usr/lib/mysql/private")
    BIN=$R/usr/sbin/mysqld
    # the sanitizer of addresses takes what the server keeps until its end for leaks
    [ "$V" = mysql-9.7 ] || { BIN=$R/build/debug/runtime_output_directory/mysqld; export ASAN_OPTIONS=detect_leaks=0; }
    SHARE=$R/usr/share/mysql BOOT=initialize LOG_SIZE=(--innodb-redo-log-capacity=256M)
    OPTS=(--secure-file-priv= --loose-mysqlx=OFF --plugin-dir="$R/usr/lib/mysql/plugin" --character-sets-dir="$R/usr/share/mysql/charsets") ;;
mariadb-10.1.* | mariadb-10.2.*)
    BIN=$S/bin/mysqld SHARE=$S/share LIBS=$S/libs
    case $V in mariadb-10.1.*) OPTS=(--innodb-file-format=Barracuda --innodb-large-prefix=ON) ;; esac ;;
mariadb-10.5.23)
    BIN=$S/usr/sbin/mariadbd SHARE=$S/usr/share/mysql LIBS=$S/usr/lib/x86_64-linux-gnu
    LOG_SIZE=(--innodb-log-file-size=256M)
    OPTS=(--secure-file-priv= --plugin-dir="$S/usr/lib/mysql/plugin") ;;
mariadb-10.11)
    BIN=/usr/sbin/mariadbd SHARE=/usr/share/mysql LOG_SIZE=(--innodb-log-file-size=256M)
    [ -d $SHARE/english ] || SHARE=/usr/share/mariadb
    OPTS=(--secure-file-priv=) ;;
mariadb-10.11.5 | mariadb-11.4.5)
    BIN=$S/bin/mariadbd SHARE=$S/share LIBS=$S/libs LOG_SIZE=(--innodb-log-file-size=256M)
    OPTS=(--secure-file-priv=) ;;
mariadb-11.8)
    R=$(cd "$S/root" && pwd -P)
    PRE=("$R/lib64/ld-linux-x86-64.so.2" --library-path
        "$R/mariadb/usr/lib/x86_64-linux-gnu:$R/usr/lib/x86_64-linux-gnu")
    BIN=$R/mariadb/usr/sbin/mariadbd SHARE=$R/mariadb/usr/share/mariadb LOG_SIZE=(--innodb-log-file-size=256M)
    [ -d "$SHARE" ] || SHARE=$R/mariadb/usr/share/mysql
    OPTS=(--secure-file-priv= --plugin-dir="$R/mariadb/usr/lib/mysql/plugin" --plugin-maturity=unknown) ;;
*) die "unknown version" ;;
esac

COMMON=(--no-defaults --datadir="$DATA" --lc-messages-dir="$SHARE" --tmpdir="$DIR/tmp" --user="$(id -un)"
    --skip-log-bin --innodb-buffer-pool-size=128M --max-allowed-packet=64M "${LOG_SIZE[@]}" "${OPTS[@]}")
KEYRING='' LATER=()
# add OPTIONS...: to COMMON, or where they belong
add() {
    local o
    for o in "$@"; do
        case $o in
        --keyring-component=*) KEYRING=${o#*=} ;;
        # a new data directory has no keyring component yet, and these want one
        --innodb-undo-log-encrypt* | --innodb-redo-log-encrypt*) LATER+=("$o") ;;
        *) COMMON+=("$o") ;;
        esac
    done
}
if [ -e "$DIR/options" ]; then
    mapfile -t KEPT <"$DIR/options"
    add "${KEPT[@]}"
fi

server() {
    if [ -n "$LIBS" ]; then
        LD_LIBRARY_PATH=$LIBS exec ${LAUNCH:-} "${PRE[@]}" "$BIN" "$@"
    else
        exec ${LAUNCH:-} "${PRE[@]}" "$BIN" "$@"
    fi
}
client() { # PROGRAM ARGS...
    local program=$1
    shift
    command -v "$program" >/dev/null || die "$program is missing: apt-get install mariadb-client"
    local first=(--no-defaults) args=()
    # MariaDB's client asks old servers for TLS when their directory has keys
    args=(--skip-ssl -uroot -S "$SOCK")
    "$program" "${first[@]}" "${args[@]}" "$@"
}
alive() { [ -e "$DIR/pid" ] && PID=$(cat "$DIR/pid") && ! gone; }

# wait_until WHAT COMMAND...: polls until COMMAND succeeds.
wait_until() {
    local what=$1 end=$((SECONDS + DEADLINE))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || die "no $what within $DEADLINE s; see $DIR/err.log"
        sleep 0.1
    done
}
up() {
    kill -0 "$CHILD" 2>/dev/null || { tail -25 "$DIR/err.log" >&2; die "died at start"; }
    client mariadb-admin --connect-timeout=2 ping >/dev/null 2>&1
}
# A zombie without other threads has ended, and has no file open: what started the server is gone, and the machine's first
# process reaps it when it likes.
gone() {
    ! kill -0 "$PID" 2>/dev/null || {
        [ "$(sed 's/.*) \(.\).*/\1/' "/proc/$PID/stat" 2>/dev/null)" = Z ] &&
            [ "$(find "/proc/$PID/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)" -le 1 ]
    }
}

# put FILE TEXT: writes it under another name first; others may read it now
put() {
    local new
    new=$(mktemp "$1.XXXXXX")
    printf '%s\n' "$2" >"$new"
    chmod 444 "$new"
    mv -f "$new" "$1"
}
# What is beside the server only says that the data directory is to be asked, which need not answer.
load_keyring() {
    [ -n "$KEYRING" ] || return 0
    local plugins='' o beside
    for o in "${OPTS[@]}"; do case $o in --plugin-dir=*) plugins=${o#*=} ;; esac; done
    beside=$(dirname "$BIN")/mysqld.my
    [ -e "$plugins/component_keyring_file.so" ] || die "has no component_keyring_file"
    [ -e "$beside" ] || put "$beside" '{"read_local_manifest": true}'
    o=$plugins/component_keyring_file.cnf
    [ -e "$o" ] || put "$o" '{"read_local_config": true}'
    put "$DATA/mysqld.my" '{"components": "file://component_keyring_file"}'
    put "$DATA/component_keyring_file.cnf" "{\"path\": \"$KEYRING\", \"read_only\": false}"
}

init() {
    alive && die "is running in $DIR"
    rm -rf "$DATA"
    mkdir -p "$DATA"
    printf '%s\n' "$@" | sed '/^$/d' >"$DIR/options"
    add "$@"
    case $BOOT in
    initialize)
        (server "${COMMON[@]}" --initialize-insecure) >"$DIR/init.log" 2>&1 || { tail -25 "$DIR/init.log" >&2; die "initialize failed"; } ;;
    copy)
        cp -r "$S/data/." "$DATA/"
        # its InnoDB files may be of another page size or log size
        rm -f "$DATA"/ib_logfile* ;;
    script)
        mkdir "$DATA/mysql" "$DATA/test"
        local n p files=()
        for n in system_tables performance_tables system_tables_data; do
            for p in mysql mariadb; do
                if [ -f "$SHARE/${p}_$n.sql" ]; then files+=("$SHARE/${p}_$n.sql"); fi
            done
        done
        ({ echo 'use mysql;'; cat "${files[@]}"; } | (server "${COMMON[@]}" --bootstrap)) >"$DIR/init.log" 2>&1 ||
            { tail -25 "$DIR/init.log" >&2; die "bootstrap failed"; } ;;
    esac
}

start() {
    alive && die "is running already in $DIR"
    # a lock that a killed server left names its pid, which a zombie may still have
    rm -f "$SOCK" "$SOCK.lock" "$DIR/pid"
    load_keyring
    # before the options, so that they can say otherwise: without grants there are no events
    (server "${COMMON[0]}" --skip-grant-tables "${COMMON[@]:1}" "${LATER[@]}" --socket="$SOCK" --skip-networking \
        --pid-file="$DIR/server.pid" "$@") >"$DIR/err.log" 2>&1 </dev/null &
    CHILD=$!
    echo $CHILD >"$DIR/pid"
    wait_until "answer" up
}

stop() {
    alive || { rm -f "$DIR/pid"; return 0; }
    kill -TERM "$PID"
    wait_until "shutdown" gone
    rm -f "$DIR/pid"
}

case $CMD in
init) init "$@" ;;
start) start "$@" ;;
run) [ -d "$DATA" ] || init "$@"; start ;;
stop) stop ;;
kill) alive || exit 0; kill -KILL "$PID"; wait_until end gone; rm -f "$DIR/pid" ;;
sql) client mariadb "$@" ;;
dump) client mariadb-dump "$@" ;;
mysqldump)
    [ -n "${R:-}" ] && [ -e "$R/usr/bin/mysqldump" ] || die "has no mysqldump of its own here"
    exec "${PRE[@]}" "$R/usr/bin/mysqldump" --no-defaults -uroot -S "$SOCK" "$@" ;;
binlog)
    case $V in
    mysql-8.0.33) exec "$S/bin/mysqlbinlog" --no-defaults "$@" ;;
    mysql-9.*) exec "${PRE[@]}" "$R/usr/bin/mysqlbinlog" --no-defaults "$@" ;;
    mariadb-*) exec mariadb-binlog --no-defaults "$@" ;;
    *) die "has no reader of binary logs here" ;;
    esac ;;
socket) echo "$SOCK" ;;
version) server --no-defaults --version ;;
*) die "unknown command $CMD" ;;
esac
