#if Fleet
import ArgumentParser
import Broker
import Settings
import Threadkeeper

/// `threadkeeper fleet doctor`
struct FleetDoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "doctor", "Check database, key service, broker and nodes, and say what to do about it.",
    """
    Changes nothing. Run it on a node, as its user: it checks what that user may do. Exits like \
    `threadkeeper doctor`.

    Examples:
      threadkeeper fleet doctor
      threadkeeper fleet doctor --json | jq '.findings[] | select(.result == "problem")'
    """)

  @OptionGroup var options: CommandOptions

  func run() async throws {
    let loaded = options.settings.read()
    let line = WaitingLine()
    defer { line.end() }
    var findings = SettingsCheck.findings(loaded)
    if let settings = loaded.settings { findings += await FleetDoctor(settings: settings) { line.show($0) }.findings() }
    line.end()
    try DoctorReport(findings).end(options.output)
  }
}

/// Looks at what a fleet needs, from here.
private struct FleetDoctor {
  let settings: Settings
  let waits: (String) -> Void

  func findings() async -> [Finding] {
    var findings: [Finding] = []
    do throws(CommandFailure) {
      let database = try FleetDatabase(settings)
      waits("Asking the database")
      findings += try server(database)
      findings += try schema(database)
      waits("Asking the key service")
      findings.append(try key(database))
      findings += try shards(database)
    } catch { findings.append(Check(.database, "database").problem(error)) }
    waits("Asking the broker")
    return findings + (await broker())
  }

  /// - Parameter status: nil where it is only a warning.
  private func judge(
    _ part: Finding.Part, _ name: String, _ isWell: Bool, _ well: String, _ problem: String, _ remedy: String,
    _ status: ExitStatus? = .configuration
  ) -> Finding {
    let check = Check(part, name)
    if isWell { return check.ok(well) }
    return status.map { check.problem(problem, remedy, $0) } ?? check.warning(problem, remedy)
  }

  private func server(_ database: FleetDatabase) throws(CommandFailure) -> [Finding] {
    struct Setting: Decodable { let name: String, setting: String }
    let settings: [Setting] = try database.rows(
      """
      SELECT name, setting FROM pg_settings WHERE name IN ('server_version_num',
        'synchronous_commit', 'fsync', 'full_page_writes') ORDER BY name DESC
      """)
    return settings.map { one in
      let (name, value) = (one.name, one.setting)
      if let version = Int(value).map({ $0 / 10_000 }) {
        return judge(
          .database, "version", version >= 14, "PostgreSQL \(version) answers", "PostgreSQL \(version) is too old",
          "Use 14 or later")
      }
      return judge(
        .database, name, value != "off" && value != "local", "`\(name)` is \(value)",
        "`\(name)` is \(value): a crash or a fail-over of the database loses messages that were acknowledged",
        "Set `\(name) = on`, for the server and for the role")
    }
  }

  private func schema(_ database: FleetDatabase) throws(CommandFailure) -> [Finding] {
    struct Right: Decodable { var name: String, has: Bool }
    let version = try database.fleet().version
    let needed =
      ["fleet", "home", "key_slot"].map { "SELECT ON \($0)" }
      + ["shard", "lease", "node", "record", "outbox"].map { "UPDATE ON \($0)" }
      + ["node", "record", "outbox", "audit"].map { "INSERT ON \($0)" }
    let excess = ["UPDATE", "DELETE"].map { "\($0) ON key_slot" }
    let rights: [Right] = try database.rows(
      """
      SELECT r AS name, has_table_privilege('threadkeeper.' || split_part(r, ' ON ', 2),
        split_part(r, ' ON ', 1)) AS has FROM unnest(string_to_array($1, ',')) r
      UNION ALL SELECT 'CREATE', has_schema_privilege('threadkeeper', 'CREATE')
      """, [(needed + excess).joined(separator: ",")])
    let held = Set(rights.filter(\.has).map(\.name))
    let missing = needed.filter { !held.contains($0) }
    let remedy = "Give the role the rights of threadkeeper_node: `threadkeeper fleet init --print-sql`"
    return [
      Check(.database, "schema").ok("The schema has version \(version)"),
      judge(
        .database, "rights", missing.isEmpty, "The role can do what a node does", "The role may not \(missing.listed)",
        remedy, .notPermitted),
      judge(
        .database, "excess", held.isDisjoint(with: excess + ["CREATE"]), "It can do no more",
        "The role may change key slots or the schema, as a superuser may", remedy, nil),
    ]
  }

  private func key(_ database: FleetDatabase) throws(CommandFailure) -> Finding {
    struct Slot: Decodable { var shard: Int? }
    let slots: [Slot] = try database.rows("SELECT min(shard) AS shard FROM threadkeeper.key_slot")
    let check = Check(.database, "key_command")
    guard let shard = slots.first?.shard else {
      return check.problem("No shard has a key slot", "Run `threadkeeper fleet init`")
    }
    let began = ContinuousClock.now
    do throws(CommandFailure) { _ = try ShardKeys.opened(shard, settings, database) } catch {
      return check.problem(error)
    }
    let took = Int(began.duration(to: .now) / .milliseconds(1))
    return check.ok("`fleet.unseal_command` opens shard \(shard), in \(took) ms")
  }

  private func shards(_ database: FleetDatabase) throws(CommandFailure) -> [Finding] {
    let status = try FleetStatus(database)
    let kinds: [(state: String, problem: String, remedy: String, status: ExitStatus)] = [
      (
        "rolled_back", "the database is older than the broker's anchor",
        "Where you have restored it, run `threadkeeper fleet accept SHARD`; else restore the newest state", .inputOutput
      ),
      (
        "no_key", "there is no key slot, or it cannot be opened",
        "Run `threadkeeper fleet init`, and see that the key service answers on every node", .configuration
      ),
      (
        "altered", "the database was altered, so they are not served",
        "Restore a backup of the database, and run `threadkeeper fleet accept SHARD`", .inputOutput
      ),
      (
        "crashed", "the processes that opened them have ended, so they are held back for up to an hour",
        "Look into the logs of the nodes; if they say nothing else, restore a backup of the database", .inputOutput
      ), ("failed", "they cannot be served", "Look into the logs of the nodes", .unavailable),
      ("unclaimed", "no node has them", "Start another node, or raise `fleet.shards_at_most`", .unavailable),
    ]
    let found = kinds.compactMap { kind -> Finding? in
      let shards = status.shards.filter { $0.state == kind.state }.map(\.shard)
      return shards.isEmpty
        ? nil
        : Check(.shards, "shards").problem(
          "Shards \(String(ranges: shards)): \(kind.problem)", kind.remedy, kind.status)
    }
    return (found.isEmpty ? [Check(.shards, "shards").ok("All \(status.shards.count) shards are served")] : found)
      + status.nodes.map { node in
        judge(
          .shards, "node", !node.isSilent, "The node `\(node.name)` gives signs of life",
          "The node `\(node.name)` has given no sign of life for \(Int(node.seenAgo)) s",
          "Start it; if it is gone for good: `DELETE FROM threadkeeper.node WHERE name = '\(node.name)'`", nil)
      }
  }

  private func broker() async -> [Finding] {
    guard let connection = try? FleetAccept.connection(settings) else { return [] }
    let prefix = settings.mqtt.baseTopic
    let probe = BrokerProbe(connection)
    let report: AccessReport
    switch await probe.access(to: ["\(prefix)/1/doctor"]) {
    case .failure(let error): return BrokerCheck.findings(refused: error, loginRemedy: nil)
    case .success(let found): report = found
    }
    // At shard 0, which there is not: an empty message, so that nothing is kept.
    let refused = await probe.publish([Anchor.removal(of: 0, below: prefix)])
    let keeps = report.session.protocolVersion == .v5 ? await probe.keepsSession() : nil
    let findings =
      BrokerCheck.findings(report.session, settings.mqtt, values: report.values) + QueueCheck.findings(nil)
      + QueueCheck.dropped(report.values)
      + AccessCheck.findings(report, login: settings.mqtt.username, other: nil, prefix: settings.homeAssistant.prefix)
      .filter { $0.result != .notChecked } + [
        judge(
          .broker, "anchor", refused == nil, "The anchors of shards can be published",
          "The anchors of shards cannot be published: \(refused?.message ?? "")",
          "Let the login of the nodes read and write `\(prefix)/#`"),
        judge(
          .broker, "session", (try? keeps?.get()) == true, "The broker keeps a session while its client is away",
          "The broker is not seen to keep a session: what comes while nobody has a shard may be lost",
          "Use a broker with MQTT 5, and allow persistent sessions for an hour at least"),
      ]
    return findings.map(\.ofFleet)
  }
}

extension Finding {
  /// As a daemon at home has it, but for the access list.
  fileprivate var ofFleet: Finding {
    let words = [
      (" with `threadkeeper acl --keep-anonymous`", " in the access list"), ("threadkeeper acl", "examples/fleet/acl"),
      ("guides/broker.md", "guides/fleet.md"),
    ]
    var finding = self
    finding.remedy = remedy.map { words.reduce($0) { $0.replacing($1.0, with: $1.1) } }
    return finding
  }
}
#endif
