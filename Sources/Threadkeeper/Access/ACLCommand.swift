import ArgumentParser
import Broker
import Settings

/// `threadkeeper acl`
struct ACLCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "acl", "Print the access list that the broker needs.",
    """
    MQTT does not say who published. The broker's access list does: every login may \
    write below `in/<its own name>/` only. A list rules the whole broker, and what it does not \
    allow is denied: name every login that does other things there with `--keep`.

    docs/guides/broker.md shows, step by step, how a broker in use gets this list.

    Examples:
      threadkeeper acl --monitor dashboard
      threadkeeper acl --keep lamps --keep house --monitor house --writes homeassistant/# --writes zigbee2mqtt/#
      threadkeeper acl --append --keep nodered | sudo tee -a /etc/mosquitto/own.acl
      threadkeeper acl --keep-anonymous | sudo tee /etc/mosquitto/threadkeeper.acl
    """)

  @Option(help: "The broker's login of threadkeeper itself.") var daemon: String?

  @Option(
    help: ArgumentHelp(
      """
      A login of something else, which may do all that it did but for threadkeeper's topics. Give \
      it as a monitor too, and it sees states and alerts, and publishes where `--writes` says. Repeatable.
      """, valueName: "login")) var keep: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      Where kept logins publish that are monitors or approvers, too, such as `zigbee2mqtt/#`. Without it: \
      what is below Home Assistant's discovery prefix. Repeatable.
      """, valueName: "filter")) var writes: [String] = []

  @Flag(help: "The same for clients that have no login.") var keepAnonymous = false

  @Option(
    help: ArgumentHelp(
      """
      A login that may read states, events, alerts and Home Assistant's devices, and say that Home Assistant has started. \
      Repeatable.
      """, valueName: "login")) var monitor: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      A login that may approve and deny what waits for consent, choose the preferred network, read \
      `bridge/…`, and publish nothing else; kept as well, it is denied what all others publish here. The \
      setting `consent.approvers` has to name it too, or, of Home Assistant, `home_assistant.login`. \
      Repeatable.
      """, valueName: "login")) var approver: [String] = []

  @Flag(
    help: """
      Print only what goes to the end of a list that is there already. What kept logins may do \
      elsewhere is in that list.
      """) var append = false

  @OptionGroup var options: CommandOptions

  func validate() throws {
    if append, keepAnonymous {
      throw ValidationError(
        "Clients without a login have their lines at the top of a list: put `topic deny threadkeeper/#` there.")
    }
    if !writes.isEmpty, append || !keep.contains(where: (monitor + approver).contains) {
      throw ValidationError("--writes is for a new list, and for logins that are kept and monitors or approvers.")
    }
  }

  func run() throws {
    let settings = try options.settings.load()
    var list = AccessList(settings, daemon: daemon)
    list.monitors = monitor
    list.approvers = approver
    list.kept = keep
    list.keptWrites = writes
    list.keepsAnonymous = keepAnonymous
    list.isAddition = append
    do {
      let text = try list.text()
      try options.output.show(["acl": text], text: text)
    } catch let error as AccessListError { throw CommandFailure(.usage, "\(error)") }
    for login in approver where !settings.consent.isApprover(login) && !settings.homeAssistant.isApprover(login) {
      try StandardStream.error.write(
        "warning: the setting `consent.approvers` does not name `\(login)`, so threadkeeper refuses its decisions. "
          + "Add it there; or, if it is Home Assistant's, set `home_assistant.login`.\n")
    }
  }
}

extension AccessList {
  /// What the settings say of it: no login but the daemon's has a role.
  init(_ settings: Settings, daemon: String? = nil) {
    self.init(baseTopics: settings.homes.map(\.base), daemons: [daemon ?? settings.mqtt.username ?? "threadkeeper"])
    discoveryPrefix = settings.homeAssistant.prefix
    deciders = settings.consent.approvers + [settings.homeAssistant.approver].compactMap { $0 }
  }

  /// What the settings promise Home Assistant, which does other things, too: it is kept, unless the list has it
  /// already.
  mutating func addHomeAssistant(_ settings: Settings) {
    guard let login = settings.homeAssistant.login else { return }
    let isReader = (monitors + approvers).contains(login)
    if settings.homeAssistant.discovery == .on { add(login, to: \.monitors) }
    if settings.homeAssistant.approver != nil { add(login, to: \.approvers) }
    if !isReader, (monitors + approvers).contains(login) { add(login, to: \.kept) }
  }
}
