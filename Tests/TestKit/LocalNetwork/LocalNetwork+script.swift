// SPDX-License-Identifier: Apache-2.0

extension LocalNetwork {
  /// The first process of the network: makes it, writes its own number, and obeys lines until its input ends.
  ///
  /// Arguments: a directory for sockets and settings, and avahi-daemon.
  static let script = #"""
    set -eu
    readonly directory=$1 program=$2
    declare -A running

    mount -t tmpfs -o mode=755 tmpfs /run
    mkdir -p /run/netns /run/avahi-daemon
    ip netns add near
    ip netns add far
    ip link add near type veth peer name far
    ip link set near netns near
    ip link set far netns far
    for side in near far; do
      ip -n $side link set lo up
      ip -n $side link set $side up
    done
    ip -n near address add 10.99.0.1/24 dev near
    ip -n far address add 10.99.0.2/24 dev far

    # avahi-daemon wants a user of its own, also when it stays root.
    for file in passwd group; do
      cp /etc/$file $directory/$file
      grep -q ^avahi: $directory/$file || case $file in
        passwd) echo avahi:x:64999:64999::/dev/null:/usr/sbin/nologin ;;
        group) echo avahi:x:64999: ;;
      esac >>$directory/$file
      mount --bind $directory/$file /etc/$file
    done

    for side in near far; do
      cat >$directory/$side.bus.conf <<END
    <busconfig>
      <listen>unix:path=$directory/$side.bus</listen>
      <auth>EXTERNAL</auth>
      <policy context="default">
        <allow send_destination="*" eavesdrop="true"/>
        <allow eavesdrop="true"/>
        <allow own="*"/>
      </policy>
    </busconfig>
    END
      cat >$directory/$side.avahi.conf <<END
    [server]
    host-name=$side
    use-ipv4=yes
    use-ipv6=yes
    allow-interfaces=$side
    objects-per-client-max=4096
    [publish]
    publish-hinfo=no
    publish-workstation=no
    END
    done

    start_bus() {
      rm -f "$directory/$1.bus"
      dbus-daemon --config-file="$directory/$1.bus.conf" --nofork --nopidfile </dev/null >&2 &
      running[bus $1]=$!
      until [[ -S $directory/$1.bus ]]; do
        kill -0 ${running[bus $1]} || return 1
        sleep 0.02
      done
    }

    # With a place of its own for its socket and the file with its number.
    start_avahi() {
      DBUS_SYSTEM_BUS_ADDRESS=unix:path=$directory/$1.bus \
        nsenter --net=/run/netns/$1 unshare --mount bash -c \
        'mount -t tmpfs -o mode=755 tmpfs /run/avahi-daemon && exec "$@"' bash \
        "$program" -f "$directory/$1.avahi.conf" --no-drop-root --no-rlimits --no-chroot </dev/null >&2 &
      running[avahi $1]=$!
    }

    stop() {
      local number=${running[$1]:-}
      [[ -n $number ]] || return 1
      kill -$2 $number
      kill -CONT $number || true
      wait $number || true
      unset "running[$1]"
    }

    read -r number _ </proc/self/stat
    echo $number
    while read -r verb part side signal; do
      answer=ok
      case $verb in
        start) start_$part $side || answer='did not start' ;;
        stop) stop "$part $side" $signal || answer='was not running' ;;
        signal) kill -$signal ${running[$part $side]} || answer='was not running' ;;
      esac
      echo "$answer"
    done
    """#
}
