# apt.sh, to be sourced: Debian's packages, installed as root or with sudo.

# as_root COMMAND...: runs it as root, through sudo where need be.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# can_install PACKAGE...: fails, naming them, where they can't even be tried.
can_install() {
    command -v apt-get >/dev/null || { echo "missing: $*" >&2; return 1; }
    [ "$(id -u)" = 0 ] || command -v sudo >/dev/null || {
        echo "as root: apt-get install $*" >&2
        return 1
    }
}

# apt_install PACKAGE...: no service of theirs is started, no package is removed for them. Wants
# an `as_root apt-get update` before it.
apt_install() (
    policy=/usr/sbin/policy-rc.d
    if [ ! -e $policy ]; then
        trap 'as_root rm -f $policy' EXIT
        as_root sh -c "printf '#!/bin/sh\nexit 101\n' >$policy; chmod 755 $policy"
    fi
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends --no-remove \
        install "$@" >&2
)
