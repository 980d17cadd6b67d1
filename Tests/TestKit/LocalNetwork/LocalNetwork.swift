// SPDX-License-Identifier: Apache-2.0

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
  package enum Part: String, Sendable {
    case bus, avahi
  }

  private let directory: TemporaryDirectory
  private let network: LineProcess
  /// Of the network's first process, as the machine sees it.
  private let identifier: String

  /// Makes the network, and starts everything.
  ///
  /// - Throws: this machine cannot do it; see `obstacle`.
  package init() throws {
    guard let tools = TestTools.avahi else {
      throw Program.Failure(description: "there is no avahi-daemon")
    }
    directory = try TemporaryDirectory()
    let log = directory.file("log")
    network = try LineProcess(
      [
        "unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c",
        Self.script, "bash", directory.path, tools.program,
      ],
      environment: [
        "LD_LIBRARY_PATH": tools.libraries, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
      ],
      errorFile: log)
    do {
      identifier = try network.answer()
    } catch {
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
  package func start(_ part: Part, _ side: Side = .near) throws {
    try order("start \(part.rawValue) \(side.rawValue)")
  }

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
    (try? Data(contentsOf: URL(fileURLWithPath: directory.file("log"))))
      .map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  private func order(_ line: String) throws {
    let answer = try network.ask(line)
    guard answer == "ok" else {
      throw Program.Failure(description: "\(line): \(answer); \(log.suffix(2_000))")
    }
  }
}
