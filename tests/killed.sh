#!/usr/bin/env bash
# killed.sh [SERVER...]
#
# Kills servers at random moments under load, a thousand times each, and compares what innoscan makes of their
# directories with what they recover: each page (pages), the rows and definitions of all tables (rows), and the same
# while tables are defined (definitions). A line a seed goes to target/killed.log; a directory that differs is kept, and
# the lines above its failure are in the log. Two cores need about six hours a server.
#
#   SEEDS=0..200   each a server with a load of its own
#   KILLS=5        times that each server is killed; it recovers in between
#   TESTS="pages rows definitions"
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -gt 0 ] || set -- mariadb-10.5.23 mariadb-10.11 mariadb-11.8 mysql-8.0.33 mysql-9.7
SEEDS=${SEEDS:-0..200}
export INNOSCAN_KILLS=${KILLS:-5}
LOG=$PWD/target/killed.log

cargo test -p innoscan-cli --test it --locked --no-run
IT=$(cargo test -p innoscan-cli --test it --locked --no-run --message-format=json 2>/dev/null |
    sed -n 's/.*"executable":"\([^"]*\/it-[^"]*\)".*/\1/p')

# test_of KIND SERVER: the name of the test.
test_of() {
    local who=the_server_recovers
    case $2 in mysql-*) who=mysql_recovers ;; esac
    case $1 in
    pages) echo "killed::each_page_is_what_$who" ;;
    *) echo "killed::$1::$1_are_what_$who" ;;
    esac
}

failed=0
for server in "$@"; do
    tests/servers/install.sh "$server"
    for kind in ${TESTS:-pages rows definitions}; do
        for seed in $(seq "${SEEDS%..*}" $((${SEEDS#*..} - 1))); do
            # where cargo runs the tests of that package
            if said=$(cd crates/cli && INNOSCAN_LIVE=$server INNOSCAN_KILLED=$seed..$((seed + 1)) \
                "$IT" --include-ignored --nocapture --exact "$(test_of "$kind" "$server")" 2>&1); then
                how=equal
            else
                how=FAILED
                failed=$((failed + 1))
                printf '%s\n' "$said" >>"$LOG"
            fi
            last=$(printf '%s\n' "$said" | grep -o "seed $seed\..*" | tail -1)
            echo "$server $kind $how: $last" | tee -a "$LOG"
        done
    done
done
[ $failed = 0 ] || { echo "$failed seeds failed, see $LOG" >&2; exit 1; }
