import ArgumentParser
import Broker
import Glibc
import Logging
import ServiceLifecycle
import Settings
import UnixSignals

/// `threadkeeper run`
struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "run", "Run the daemon until it is stopped.",
    """
    Without a configuration it starts a private broker on a loopback port and makes an encrypted \
    store in the state directory. Logs go to standard error. SIGTERM, SIGINT and \
    SIGHUP stop it cleanly.

    Examples:
      threadkeeper run
      threadkeeper run --config /etc/threadkeeper/threadkeeper.yaml
      THREADKEEPER_MQTT_HOST=broker.local threadkeeper run
    """)

  @OptionGroup var options: SettingsOptions

  func run() async throws {
    StopSignals.ignoreOthers()
    let settings = try options.load()
    if settings.store.url != nil { return try await FleetParts.built().runNode(settings) }
    let daemon = try Daemon.start(settings, ask: { try StoreSecret.ask($0) }, logger: .init(settings.log))
    defer { daemon.end() }
    if let broker = daemon.embeddedBroker {
      try StandardStream.error.write(EmbeddedBrokerNotice(broker: broker, settings: settings).text)
    }
    try await daemon.run()
  }
}

extension Logger {
  package init(_ log: Settings.Log) {
    let level = log.level
    switch log.format {
    case .text: self.init(label: "threadkeeper") { _ in TextLogHandler(level: level) }
    case .json: self.init(label: "threadkeeper") { JSONLogHandler(label: $0, level: level) }
    }
  }
}

/// How to speak to the private broker, in lines that can be copied.
struct EmbeddedBrokerNotice {
  let broker: EmbeddedBroker
  let settings: Settings

  var text: String {
    let base = settings.homes.first?.base ?? settings.mqtt.baseTopic
    // The commands begin at the first column: what ends the input must stand there, too.
    return """

      A private broker runs on 127.0.0.1:\(broker.port). In another terminal, speak as a border router:

      XDG_CONFIG_HOME='\(broker.clientConfigurationHome(of: "border-router"))' \\
        mosquitto_pub -q 1 -t \(base)/in/border-router/announce -s <<'EOF'
      {"border_agent_id":"a1b2c3d4e5f60718","name":"Living room","dataset":"<TLVs in hex>"}
      EOF

      and in a third one, watch:

      XDG_CONFIG_HOME='\(broker.clientConfigurationHome(of: "monitor"))' \\
        mosquitto_sub -v -t '\(base)/#'

      """
  }
}

/// What signals do to a program that runs until it is stopped.
package enum StopSignals {
  /// Has the group end in order on SIGTERM, SIGINT, and SIGHUP: a terminal that is closed, or a session that ends.
  /// Where SIGHUP is ignored from the start, as by nohup(1), it stays so.
  package static func stop(_ group: inout ServiceGroupConfiguration) {
    var hangUp = sigaction()
    sigaction(SIGHUP, nil, &hangUp)
    let isIgnored =
      unsafeBitCast(hangUp.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    group.gracefulShutdownSignals = isIgnored ? [.sigterm, .sigint] : [.sigterm, .sigint, .sighup]
  }

  /// Signals that would end the program, and that others send to daemons for reasons of their own: SIGPIPE, when a
  /// reader of the log goes away; SIGUSR1 and SIGUSR2, with which tools ask other daemons to open their logs again.
  package static func ignoreOthers() { for number in [SIGPIPE, SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) } }
}
