import Home
import KeychainCore
import ThreadkeeperSupport

/// The alerts about the daemon and its broker, for `HomeInput.condition`.
extension AlertFacts {
  private static func daemon(_ summary: String, _ remedy: String) -> AlertFacts {
    var facts = AlertFacts(.daemon)
    facts.names = Names([summary, remedy])
    return facts
  }

  package static let sessionLost = daemon(
    "the broker has forgotten the daemon's session; events sent meanwhile are lost",
    "Set `persistence true` on the broker. Routers that announce themselves again are "
      + "taken up; this resolves with the next connection that finds its session.")

  /// - Parameter reason: what is wrong, and what to do.
  static func storeReadOnly(_ reason: String) -> AlertFacts {
    daemon("the store cannot be written, so events wait on the broker", reason)
  }

  /// - Parameters:
  ///   - records: how many of a home.
  ///   - home: where they are to be given up alone.
  package static func storeDamaged(records: Int, home: String? = nil) -> AlertFacts {
    let option = home.map { " --home \($0)" } ?? ""
    return daemon(
      "\(records) \(records == 1 ? "record" : "records") of the store cannot be read",
      "Check the disk, and restore a backup (`threadkeeper store restore`). Where none has them, "
        + "let the routers announce themselves again, and give the records up with "
        + "`threadkeeper store forget-damaged\(option)`. This resolves after a day.")
  }

  /// - Parameter notice: what was found out.
  package static func anchorAltered(_ notice: StoreNotice) -> AlertFacts {
    daemon(
      "\(notice)",
      "If you moved the store, restored it by hand or removed the anchor, nothing is to be done: it is written "
        + "again. Else somebody may have put an old copy of the store in place: compare `threadkeeper audit`, "
        + "`threadkeeper clients list` and `threadkeeper consent list --grants` with what you know, and restore a "
        + "backup. This resolves after a day.")
  }

  package static let messagesDropped = daemon(
    "the broker drops messages that it cannot queue",
    "Set `max_queued_messages 1000000` and a bound in `max_queued_bytes` on the broker.")

  /// - Parameters:
  ///   - words: what the broker answers to the daemon's login.
  ///   - remedy: depends on where the password comes from.
  package static func brokerAuthenticationFailed(_ words: String, remedy: String) -> AlertFacts {
    daemon(words, remedy)
  }

  /// - Parameter reason: what the broker said.
  package static func sessionTakenOver(_ reason: String) -> AlertFacts {
    daemon(
      reason,
      "Look for \"already connected, closing old connection\" in Mosquitto's log. Stop the "
        + "other program: a second daemon with the same `mqtt.client_id` or a copy of this store, or "
        + "a client that uses the id on purpose. Then set another `mqtt.client_id`, and let the broker "
        + "take only ids that you know (`clientid_prefixes`). The daemon keeps trying.")
  }

  /// The same alert where the daemon's own two connections do it to each other.
  package static let sharedClientID = daemon(
    MutualEnds.reason,
    "Remove `use_username_as_clientid` from mosquitto.conf, or what your broker calls it, and "
      + "restart the broker. Run `threadkeeper doctor` to check.")

  /// - Parameter login: Home Assistant's, of the settings.
  package static func consentByHomeAssistant(login: String) -> AlertFacts {
    daemon(
      "whoever can publish as \(ShownName.account(login)), through Home Assistant too, can "
        + "approve every request for network keys",
      "Set `home_assistant.consent: adoptions`, unless everybody who can use Home Assistant "
        + "may have every network key.")
  }

  /// A topic whose last part may be of another client's choice.
  private static func named(_ topic: String) -> String {
    let isPlain = topic.utf8.count <= 200 && topic.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    return isPlain ? ": \(topic)" : ""
  }

  /// - Parameter topic: of a device.
  package static func discoveryAltered(topic: String) -> AlertFacts {
    daemon(
      "another client has altered a device of threadkeeper in Home Assistant\(named(topic))",
      "It was published again; where it had buttons, decisions by buttons were refused for a minute. "
        + "Restart Home Assistant, which keeps a button that was added. Find out which login writes there, "
        + "and put what `threadkeeper acl` prints into the broker's access list: it leaves that to Home "
        + "Assistant's own login.")
  }

  /// - Parameter topic: below a base topic.
  package static func stateAltered(topic: String) -> AlertFacts {
    daemon(
      "another client has altered what threadkeeper publishes\(named(topic))",
      "It was published again. MQTT does not say who it was: it can be every login that the broker lets write there. "
        + "Put what `threadkeeper acl` prints into the broker's access list: then it is threadkeeper's own login "
        + "alone; change its password if others have it. `threadkeeper doctor --login USER` tries what a login may do.")
  }

  /// - Returns: nil where devices are reached.
  static func threadPathBroken(_ faults: [PathFault]) -> AlertFacts? {
    let texts = faults.filter { $0.weight != .known }.map(\.words)
    guard let first = texts.first else { return nil }
    let more = texts.count > 1 ? " (and \(texts.count - 1) more: see `threadkeeper doctor`)" : ""
    return daemon(first.text.prefix(1).lowercased() + first.text.dropFirst() + more, first.remedy + ".")
  }

  package static let test = daemon(
    "this is a test: an alert of threadkeeper has arrived",
    "Nothing is wrong. Press \"It arrived\" on the status page, or run `threadkeeper alerts confirm`. This resolves by "
      + "itself within ten minutes.")

  static func zigbeeSharesChannel(_ overlap: ZigbeeChannels.Overlap) -> AlertFacts {
    let name = ShownName.named(overlap.preferred.name, overlap.preferred.network, needsID: false)
    return daemon(
      "zigbee2mqtt and the preferred network \(name) use the same channel, \(overlap.channel)",
      "Nothing is to be done while the devices of both work. If some are slow or lost now and then, move one of the two: "
        + "free of both are \(overlap.free). Of Zigbee that is `advanced.channel` in the settings of zigbee2mqtt; some of "
        + "its devices have to be paired again. Of Thread it is a pending dataset with another channel, which its devices "
        + "follow.")
  }

  package static func anotherDaemon(_ other: Publisher.OtherDaemon) -> AlertFacts {
    var remedy =
      "Stop one of the two, or give it another base topic. This resolves three minutes after the other one is gone."
    if other.isCopy {
      remedy = "Stop one of the two: each changes what the other one publishes, and their stores differ from now on."
    } else if other.isOwner {
      remedy =
        "Stop this daemon, or give it another base topic. If the other one is gone for good, set `mqtt.take_over: \""
        + "\(other.instance)\"` (in Home Assistant's add-on the option `take_over`), and restart this one."
    }
    return daemon(summary(other), remedy)
  }

  package static func summary(_ other: Publisher.OtherDaemon) -> String {
    if other.isCopy { return "another daemon runs with a copy of this store, on the same base topic \(other.base)" }
    return other.isOwner
      ? "the base topic \(other.base) belongs to another daemon (\(other.instance)); this one publishes nothing there"
      : "another daemon (\(other.instance)) uses the base topic \(other.base), too"
  }
}
