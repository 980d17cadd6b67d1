import Home
import HomeStore
import ThreadDataset
import ThreadkeeperSupport

/// The preferred network, and which routers are on it.
extension AlertSentences {
  func noPreferred(_ isForgotten: Bool, _ seen: [AlertFacts.Named], _ count: Int) -> (String, String) {
    var summary =
      isForgotten
      ? "no network is preferred, because a person has forgotten the last one"
      : "no network is preferred, so no router can be checked"
    if count > 1 {
      let more = count > seen.count ? " and \(count - seen.count) more" : ""
      summary += "; border routers are on \(count) networks: \(seen.map(\.shown).joined(separator: ", "))\(more)"
    }
    let wanted = facts.user == nil ? nil : facts.network
    if let wanted {
      summary +=
        count > 1
        ? ", none is on \(wanted.shown), which login \(user) prefers"
        : "; no border router is on \(wanted.shown), which login \(user) prefers; they are on "
          + seen.map(\.shown).joined()
    }
    var remedy: String
    if seen.isEmpty {
      remedy =
        isForgotten
        ? ways.isOnPage
          ? "Prefer one as soon as it is listed on this page"
          : "Choose one with `threadkeeper preferred set NETWORK\(homeOption)`"
        : "Announce a border router with its dataset: the first network becomes preferred"
    } else if ways.isOnPage {
      remedy = "Press \"Prefer\" for the network that is yours"
    } else {
      remedy =
        "Choose the network that is yours: "
        + (seen + [wanted].compactMap(\.self)).map {
          "`threadkeeper preferred set \($0.id)\(homeOption)` for \($0.shown)"
        }.joined(separator: ", ")
    }
    if isForgotten, !ways.isOnPage {
      remedy += "; `threadkeeper preferred show --history\(homeOption)` lists those that were preferred"
    } else if count > seen.count {
      remedy += ways.isOnPage ? "; all are listed on this page" : "; `threadkeeper networks` lists all"
    }
    return (summary, remedy + ".")
  }

  func disputed(_ claimed: UInt64?, _ current: UInt64?, _ departed: AlertFacts.Names, _ hasDamage: Bool) -> (
    String, String
  ) {
    func timestamp(_ seconds: UInt64?) -> String { seconds.map { String($0) } ?? "unknown" }
    let (claimants, others) = (facts.names, facts.otherNames)
    var summary =
      "\(list(claimants)) \(claimants.count == 1 ? "reports" : "report") other keys of "
      + "\(preferredName) (timestamp \(timestamp(claimed))) than the preferred "
      + "network has (timestamp \(timestamp(current)))"
    if others.count > 0 {
      summary += ", which \(list(others)) \(others.count == 1 ? "uses" : "use")"
    } else if claimants.count > 1 {
      summary += ", and they do not agree"
    }
    if departed.count > 0 { summary += "; \(list(departed)) had the current ones less than 30 days ago" }
    if hasDamage { summary += "; some stored credentials are damaged, so their keys are not known" }
    return (
      summary,
      "To keep the current keys, "
        + run("preferred set \(PreferredNetwork.currentID)\(homeOption)", or: "Keep the current keys")
        + (press("Keep the current keys").map { ", or \($0)" } ?? "") + "; then give "
        + "\(list(claimants)) the current dataset of \(preferredName). Only if the keys of \(name) are right, run "
        + "`threadkeeper preferred set \(facts.preferred?.id.description ?? "") --router \(agent)\(homeOption)`."
    )
  }

  func changed(_ change: PreferredChange) -> (String, String) {
    let name = change.to.shown
    var summary: String
    if change.bringsCredentials {
      summary = "the credentials of the preferred network \(name) are here now"
    } else if change.to.id != change.from.id {
      summary = "\(name) is the preferred network now, instead of \(change.from.shown)"
    } else if change.hasNewKeys {
      summary = "the preferred network \(name) has new keys"
    } else {
      let steps = change.differs.parameters.map { step($0, of: change) }
      summary = "the preferred network \(name) has other parameters (\(steps.joined(separator: ", ")))"
    }
    summary += ": " + reason(change, who: change.who ?? "a border router")
    let others = facts.names
    if others.count > 0 { summary += ", and \(list(others)) \(others.count == 1 ? "has" : "have") others" }
    let isConfirmed = !change.hasNewKeys || change.cause == .person
    let confirm =
      isConfirmed
      ? ""
      : "If the new keys are right, confirm them with `threadkeeper preferred set "
        + "\(PreferredNetwork.currentID)\(homeOption)`; until then each question about them names this change. "
    let ways =
      if !change.hasNewKeys, !change.bringsCredentials {
        // The daemon would prefer what no router uses.
        "set the former parameters on a border router as a pending dataset, with a later active timestamp: "
          + "all of its network change at once"
      } else if let former = change.formerID {
        "go back with `threadkeeper preferred set \(FormerNetwork.text(of: former))\(homeOption)`"
      } else if ways.isOnPage { "press \"Prefer\" at another network" } else {
        "choose another one with `threadkeeper preferred set`"
      }
    return (summary, "\(confirm)If this is not what you want, \(ways).")
  }

  /// A parameter, from what to what it was changed where that is no secret.
  func step(_ parameter: DatasetParameter, of change: PreferredChange) -> String {
    let word = parameter.rawValue
    switch parameter {
    case .networkName:
      let names = [change.from, change.to].map { ShownName.named($0.name, "none", needsID: false) }
      return "\(word) from \(names[0]) to \(names[1])"
    case .channel, .panID:
      guard let from = change.fromRadio, let to = change.toRadio else { return word }
      return parameter == .channel
        ? "\(word) from \(from.channel) to \(to.channel)"
        : "\(word) from \(hexadecimal(from.panID)) to \(hexadecimal(to.panID))"
    default: return word
    }
  }

  func hexadecimal(_ number: UInt16) -> String {
    "0x" + withUnsafeBytes(of: number.bigEndian) { Hexadecimal.encode($0) }
  }

  func reason(_ change: PreferredChange, who: String) -> String {
    switch change.cause {
    case .first, .sameKeys: facts.user == nil ? "\(who) reports them" : "login \(user) shares them"
    case .onlyMember: "\(who), its only border router, reports them, and nobody else confirms them"
    case .confirmed: "\(who) and \(change.second ?? "another border router") report them"
    case .shared: "login \(user), which `home_assistant.trusted` names, shares them"
    case .owner: "a program on this machine, whose team has a border router on the network, has stored or chosen it"
    // Not a name that anybody has chosen.
    case .person: "a person has chosen it" + (ways.isOnPage ? "" : change.who.map { " (\($0))" } ?? "")
    }
  }

  func changes(_ channel: UInt16?, _ newName: String?) -> (String, String) {
    let values = [
      channel.map { "channel to \($0)" }, newName.map { "name to \(ShownName.named($0, "none", needsID: false))" },
    ]
    let others = facts.differs?.parameters.filter { $0 != .channel && $0 != .networkName }.map(\.rawValue) ?? []
    let all = values.compactMap(\.self) + others
    return (
      facts.differs == .channel
        ? "\(network) moves to channel \(channel.map(String.init) ?? "") at \(since)"
        : "\(network) changes at \(since): \(all.joined(separator: ", "))",
      "If somebody of yours has ordered it, nothing is to be done: routers and devices change by themselves, together. "
        + "If not, set the current parameters on a border router as a pending dataset with later timestamps before "
        + "then, and find out who has the credentials of \(network)."
    )
  }

  func empty(_ routers: Int, _ elsewhere: Int) -> (String, String) {
    let id = facts.network?.id.description ?? ""
    let (place, home) = (facts.network?.shown ?? id, preferredName)
    return (
      "no border router is on the preferred network \(home); \(routers) \(routers == 1 ? "is" : "are") on " + place
        + (elsewhere == 0 ? "" : ", \(elsewhere) on others"),
      "If \(place) is your network, \(run("preferred set \(id)\(homeOption)", or: "Prefer")). If \(home) is, give "
        + "the border routers its credentials in the apps of their makers. If they are on another one on "
        + "purpose, \(run("networks accept \(id)\(homeOption)", or: "They're fine there"))."
    )
  }

  func moved(_ routers: Int, of all: Int, lost: Int) -> (String, String) {
    let id = facts.network?.id.description ?? ""
    let (place, home) = (facts.network?.shown ?? id, preferredName)
    let users = facts.otherNames
    let reported =
      users.count == 0
      ? "" : ", as login\(users.count == 1 ? "" : "s") \(list(users)) " + "\(users.count == 1 ? "reports" : "report")"
    let rest = all - routers
    let count = rest == 0 ? "all \(routers)" : "\(routers) of \(all)"
    let others = rest == 1 ? "the other" : "the others"
    let unreached = lost == rest ? others : "\(lost) of the others"
    return (
      "\(count) border routers of the preferred network \(home) are on \(place) now"
        + (facts.names.count == 0 ? "" : ": \(list(facts.names))") + reported
        + (rest == lost ? "" : "; \(others) \(rest == 1 ? "is" : "are") not")
        + (lost == 0 ? "" : "\(rest == lost ? "; \(others)" : ", and \(lost) of them") cannot be reached"),
      (lost == 0 ? "" : "Check first why \(unreached) cannot be reached. ")
        + "If the home has moved to \(place), \(run("preferred set \(id)\(homeOption)", or: "Prefer")). If "
        + "not, give the border routers the credentials of \(home)."
    )
  }

  func split(_ named: [AlertFacts.Names], _ parts: Int) -> (String, String) {
    let network = facts.network?.shown ?? ""
    let shown = named.map { part in
      let more = part.count - part.first.count
      return part.first.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }
    let others = facts.otherNames
    let it = others.count == 1 ? "it" : "they"
    return (
      "\(network) is split into \(parts) parts that do not reach each other by radio: " + shown.joined(separator: " | ")
        + (others.count == 0 ? "" : "; nobody has accepted \(list(others)), so \(it) may have another key"),
      (others.count == 0
        ? ""
        : "Find out first whether \(list(others)) \(others.count == 1 ? "is" : "are") yours, and "
          + "whether \(it) got the credentials of \(network): with another key \(it) never join"
          + "\(others.count == 1 ? "s" : ""). ")
        + "Check that each border router is within radio range of another one or of a mains-powered "
        + "Thread device, and restart those that are alone. Parts on the same channel join by themselves "
        + "when they reach each other."
    )
  }
}
