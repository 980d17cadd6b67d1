import Foundation
import TestKit
import Testing

/// Brokers whose name or port is not what it seems.
@Suite(
  "A broker that is hard to reach", .inTurns, .timeLimit(.minutes(30)),
  .enabled(if: MountNamespace.obstacle == nil, "\(MountNamespace.obstacle ?? "")")) struct HardToReachTests
{
  private static let otherUser = 61_042
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// Commands see a name with two addresses: at the first one nothing answers, at the second one the broker does.
  private func launcher() throws -> [String] {
    let hosts = directory.file("hosts")
    try Data("127.0.0.1 localhost\n127.0.0.2 localhost\n".utf8).write(to: URL(fileURLWithPath: hosts))
    return ["/usr/bin/unshare", "--mount", "sh", "-c", #"mount --bind "$0" /etc/hosts && exec "$@""#, hosts]
  }

  @Test(
    "A name whose first address swallows packets, or refuses, is no obstacle, with and without TLS",
    arguments: [false, true], [false, true]) func deadAddress(hasTLS: Bool, isSilent: Bool) async throws
  {
    let certificates = try TestCertificates.shared()
    let port = try UnusedPort.next()
    let tls = [
      "cafile \(certificates.authority)", "certfile \(certificates.server)", "keyfile \(certificates.serverKey)",
    ]
    let broker = try TestBroker(extraConfiguration: ["listener \(port) 127.0.0.2"] + (hasTLS ? tls : []))
    let silent = isSilent ? try BlackHole(port: port) : nil
    let installation = try Installation(
      port: port, mqtt: hasTLS ? ["tls: {ca_file: \(certificates.authority)}"] : [], launcher: launcher(),
      variables: ["THREADKEEPER_MQTT_HOST": "localhost"])
    let daemon = try installation.launch()
    try await installation.ready(daemon)
    let connected = try #require(daemon.log.split(separator: "\n").first { $0.contains("intake connected") })
    print("dead address, TLS \(hasTLS), silent \(isSilent): \(connected)")
    #expect(!daemon.log.contains("disconnected"), "\(daemon.log)")

    let doctor = try await installation.command("doctor", "--json")
    let findings = JSON(doctor.output)?["findings"]?.list ?? []
    #expect(findings.contains { $0["check"] == "broker" && $0["result"] == "ok" }, "\(doctor.output)")
    let login = try await ThreadkeeperBinary.run(
      ["login", "--username", "a", "--password-stdin", "--config", installation.configuration], input: .text("b"),
      environment: installation.environment, launcher: launcher())
    #expect(login.status == 0, "\(login.error)")
    let client = try await ThreadkeeperBinary.run(
      ["client", "request", "ping", "--username", "a", "--host", "localhost", "--port", "\(port)", "--timeout", "60"]
        + (hasTLS ? ["--cafile", certificates.authority] : []), environment: installation.environment,
      launcher: launcher())
    #expect(client.status == 0, "\(client.error)")
    let setup = try await ThreadkeeperBinary.run(
      [
        "setup", "--broker", "localhost", "--port", "\(port)", "--no-login", "--yes", "--config",
        directory.file("new.yaml"), "--state-directory", directory.file("new"),
      ] + (hasTLS ? ["--ca-file", certificates.authority] : []), environment: ["HOME": directory.path],
      launcher: launcher())
    #expect(setup.status == 0, "\(setup.error)")
    #expect(try await daemon.stop() == .exit(0))
    withExtendedLifetime((broker, silent)) {}
  }

  /// A Mosquitto of another user, which lets everybody in and logs what comes.
  private func foreignBroker(_ port: UInt16, log: String) throws -> ChildProcess {
    try ChildProcess(
      "/usr/bin/setpriv",
      ["--reuid=\(Self.otherUser)", "--regid=\(Self.otherUser)", "--clear-groups", "mosquitto", "-v", "-p", "\(port)"],
      environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"], streams: (.nothing, .nothing, .file(log)))
  }

  @Test("Another user of this machine who has the broker's port gets nothing, until a setting names it")
  func foreignListener() async throws {
    let (port, log) = (try UnusedPort.next(), directory.file("foreign.log"))
    let foreign = try foreignBroker(port, log: log)
    defer { foreign.signal(SIGKILL) }
    func heard() throws -> String { try String(contentsOfFile: log, encoding: .utf8) }
    try await eventually("the listener") { try heard().contains("running") }
    let installation = try Installation(
      port: port, mqtt: ["username: keeper", "password: Sesame-7710"], more: "discovery: {mdns: off}")
    var daemon = try installation.launch()
    try await eventually("both connections") {
      daemon.log.split(separator: "\n").count { $0.contains("disconnected") } >= 2
    }
    let words = "the user `\(Self.otherUser)` of this machine listens on 127.0.0.1:\(port)"
    let problem = try await installation.json("status")["broker"]?["problem"]?.text
    print("another user on the port: \(problem ?? "nothing")")
    #expect(problem?.contains(words) == true && problem?.contains("`mqtt.broker_users`") == true)

    let doctor = try await installation.command("doctor")
    #expect(doctor.output.contains(words), "\(doctor.output)")
    let login = try await ThreadkeeperBinary.run(
      ["login", "--password-stdin", "--config", installation.configuration], input: .text("Sesame-7711"),
      environment: installation.environment)
    #expect(login.status == 69 && login.error.contains(words), "\(login.error)")
    let password = directory.file("password")
    try Data("Sesame-7712\n".utf8).write(to: URL(fileURLWithPath: password))
    chmod(password, 0o600)
    let client = [
      "client", "request", "ping", "--username", "a", "--password-file", password, "--host", "localhost", "--port",
      "\(port)", "--timeout", "60",
    ]
    let refused = try await ThreadkeeperBinary.run(client, environment: installation.environment)
    #expect(refused.status != 0 && refused.error.contains("`--broker-user`"), "\(refused.error)")
    let setup = try await ThreadkeeperBinary.run(
      [
        "setup", "--broker", "127.0.0.1", "--port", "\(port)", "--login", "a", "--password-file", password, "--yes",
        "--config", directory.file("new.yaml"), "--state-directory", directory.file("new"),
      ], environment: ["HOME": directory.path])
    #expect(setup.status != 0 && setup.error.contains(words), "\(setup.error)")
    // Connections came, and not one packet.
    let traffic = try heard()
    #expect(traffic.contains("New connection from"), "\(traffic)")
    for word in ["New client connected", "CONNECT", "threadkeeper", "keeper", "Sesame"] {
      #expect(!traffic.contains(word), "\(traffic)")
    }
    #expect(try await daemon.stop() == .exit(0))

    let named = ["THREADKEEPER_MQTT_BROKER_USERS": "[\(Self.otherUser)]"]
    daemon = try await installation.start(environment: named)
    let admitted = try await ThreadkeeperBinary.run(
      client + ["--broker-user", "\(Self.otherUser)"], environment: installation.environment)
    #expect(admitted.status == 0, "\(admitted.error)")
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("A broker that gives all clients of a login one client id is named, by an alert and by the doctor")
  func sharedClientID() async throws {
    let port = try UnusedPort.next()
    let broker = try TestBroker(
      logins: [.init("threadkeeper", role: .daemon)],
      extraConfiguration: ["listener \(port) 127.0.0.1", "use_username_as_clientid true"])
    let password = try #require(broker.broker.password(of: "threadkeeper"))
    let installation = try Installation(
      port: port, mqtt: ["username: threadkeeper", "password: '\(password)'"], hold: 0, more: "discovery: {mdns: off}")
    let daemon = try installation.launch()
    var alert: JSON?
    try await eventually("the alert") {
      let answer = try await installation.command("alerts", "--json")
      alert = JSON(answer.output)?.list.first { $0["alertname"] == "SessionTakenOver" }
      return alert != nil
    }
    print("one client id: \(alert?.description ?? "")")
    #expect(alert?["remedy"]?.text?.contains("`use_username_as_clientid`") == true)
    let doctor = try await installation.command("doctor")
    #expect(doctor.status != 0, "\(doctor.output)")
    #expect(doctor.output.contains("`use_username_as_clientid`"), "\(doctor.output)")
    #expect(try await daemon.stop() == .exit(0))
  }
}

/// What a test needs that shows a program other files than the machine's, or runs it as another user.
enum MountNamespace {
  /// Why this machine cannot do it.
  static let obstacle: String? = {
    guard geteuid() == 0 else { return "only root may mount, and be another user" }
    let attempt = try? Program.run(
      "unshare", ["--mount", "mount", "--bind", "/etc/passwd", "/etc/hosts"],
      environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
    return attempt?.status == 0 ? nil : "no mount namespace: \(attempt?.output ?? "no unshare")"
  }()
}
