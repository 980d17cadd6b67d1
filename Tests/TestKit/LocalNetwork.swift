import Foundation

/// A local network of a test's own, with a D-Bus daemon and an avahi-daemon at either end.
///
/// ```
///  tests, threadkeeper ──▶ bus ─ avahi-daemon ─ near ══ veth ══ far ─ avahi-daemon ─ bus ◀── ServicePublisher
/// ```
/// Both ends are network namespaces of their own, so nothing is ever sent on the machine's interfaces. The machine's
/// programs reach the avahi-daemons by their D-Bus sockets: give them `environment()`. All processes are in a PID
/// namespace, which ends with this object and with the test process.
package final class LocalNetwork: Sendable {
  /// An end of the network.
  package enum Side: String, CaseIterable, Sendable {
    /// Where services are looked for.
    case near
    /// Where they are published.
    case far
  }

  /// What runs at each end.
  package enum Part: String, Sendable { case bus, avahi }

  private let directory: TemporaryDirectory
  private let network: LineProcess
  /// Of the network's first process, as the machine sees it.
  private let identifier: String

  /// Makes the network, and starts everything.
  ///
  /// - Throws: this machine cannot do it; see `obstacle`.
  package init() throws {
    guard let tools = TestTools.avahi else { throw Program.Failure(description: "there is no avahi-daemon") }
    directory = try TemporaryDirectory()
    let log = directory.file("log")
    network = try LineProcess(
      [
        "unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", Self.script, "bash",
        directory.path, tools.program,
      ], environment: ["LD_LIBRARY_PATH": tools.libraries, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"], errorFile: log)
    do { identifier = try network.answer() } catch {
      let reason = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
      throw Program.Failure(description: "no network namespace: \(error) \(reason)")
    }
    for side in Side.allCases {
      try start(.bus, side)
      try start(.avahi, side)
    }
  }

  deinit { network.process.signal(SIGKILL) }

  /// What a program needs in its environment to reach the D-Bus daemon of that side.
  package func environment(_ side: Side = .near) -> [String: String] {
    ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(directory.file(side.rawValue)).bus"]
  }

  /// What must be put before a command to run it with the network interfaces of that side.
  package func launcher(_ side: Side = .near) -> [String] {
    let namespace = "/proc/\(identifier)/root/run/netns/\(side.rawValue)"
    return ["/usr/bin/nsenter", "--net=\(namespace)"]
  }

  /// Starts what was stopped. A bus takes connections when this returns; avahi-daemon takes a moment.
  package func start(_ part: Part, _ side: Side = .near) throws { try order("start \(part.rawValue) \(side.rawValue)") }

  /// Ends it and waits for its end. Without `-KILL`, avahi-daemon says goodbye for its services.
  package func stop(_ part: Part, _ side: Side = .near, kill: Bool = false) throws {
    try order("stop \(part.rawValue) \(side.rawValue) \(kill ? "KILL" : "TERM")")
  }

  /// Has it stand still: it answers nothing, and its socket stays.
  package func freeze(_ part: Part, _ side: Side = .near) throws {
    try order("signal \(part.rawValue) \(side.rawValue) STOP")
  }

  /// Has it go on.
  package func thaw(_ part: Part, _ side: Side = .near) throws {
    try order("signal \(part.rawValue) \(side.rawValue) CONT")
  }

  /// What all parts wrote to their error streams.
  package var log: String {
    (try? Data(contentsOf: URL(fileURLWithPath: directory.file("log")))).map { String(decoding: $0, as: UTF8.self) }
      ?? ""
  }

  private func order(_ line: String) throws {
    let answer = try network.ask(line)
    guard answer == "ok" else { throw Program.Failure(description: "\(line): \(answer); \(log.suffix(2_000))") }
  }
}

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

extension LocalNetwork {
  /// Why this machine cannot have such a network; nil when it can.
  ///
  /// `@Suite(.enabled(if: LocalNetwork.obstacle == nil, "\(LocalNetwork.obstacle ?? "")"))` has the tests that need
  /// one skipped by name, with the reason.
  package static let obstacle: String? = {
    guard geteuid() == 0 else { return "only root may make a network namespace" }
    guard TestTools.avahi != nil else { return "no avahi-daemon: run .ci/test-tools" }
    let path = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
    for program in ["dbus-daemon", "ip", "nsenter", "unshare"] {
      let found = try? Program.run("sh", ["-c", "command -v \(program)"], environment: path)
      guard found?.status == 0 else { return "\(program) is missing" }
    }
    // A container may forbid it, a kernel may have no such interfaces, and root of a user namespace has no other users.
    let attempt = try? Program.run(
      "unshare",
      [
        "--net", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
        """
        mount -t tmpfs tmpfs /run && chown 64999 /run && mkdir /run/netns && ip netns add far && \
        ip link add near type veth peer name far && ip link set far netns far
        """,
      ], environment: path)
    guard let attempt else { return "unshare does not run" }
    return attempt.status == 0 ? nil : attempt.output.trimmingCharacters(in: .newlines)
  }()
}

/// Programs that tests need and that are not installed on the machine. See `.ci/test-tools`.
package enum TestTools {
  package struct Tool: Sendable {
    package let program: String
    /// For `LD_LIBRARY_PATH`; perhaps empty.
    package let libraries: String
  }

  package static let avahi = find("avahi-daemon")
  /// Sends the router advertisements that border routers send.
  package static let radvd = find("radvd")

  /// The machine's own, else the one that `.ci/test-tools` has unpacked.
  private static func find(_ name: String) -> Tool? {
    let files = FileManager.default
    let installed = "/usr/sbin/\(name)"
    if files.isExecutableFile(atPath: installed) { return Tool(program: installed, libraries: "") }
    // The tests lie somewhere below `.build`, and the tools in it.
    var directory = ThreadkeeperBinary.executable.deletingLastPathComponent()
    while directory.path != "/" {
      let tools = directory.appendingPathComponent("test-tools/\(name)")
      let program = tools.path + installed
      if files.isExecutableFile(atPath: program) {
        let libraries = tools.path + "/usr/lib"
        let folders = (try? files.contentsOfDirectory(atPath: libraries)) ?? []
        return Tool(
          program: program,
          libraries: folders.filter { $0.contains("-linux-") }.map { "\(libraries)/\($0)" }.joined(separator: ":"))
      }
      directory.deleteLastPathComponent()
    }
    return nil
  }
}
