// SPDX-License-Identifier: Apache-2.0

import BrokerAccess
import Testing

@Suite("What an access list allows")
struct AccessRulesTests {
  private func wanted(_ change: (inout AccessList) -> Void = { _ in }) -> AccessList {
    var list = AccessList(baseTopics: ["threadkeeper"], daemons: ["threadkeeper"])
    change(&list)
    return list
  }

  private func gaps(_ text: String, logins: [String] = [], anonymous: Bool = false) -> AccessGaps {
    AccessGaps(
      AccessRules(text), for: wanted(), logins: logins + ["threadkeeper"],
      allowsAnonymous: anonymous)
  }

  @Test("A denial wins, then come the user's lines, then the patterns")
  func order() {
    let rules = AccessRules(
      """
      topic read news/#
      user anna
      topic readwrite #
        topic deny secret/#
      topic house/+/set

      user bob
      # not a rule
      pattern readwrite by/%u/#
      pattern write id/%c/x
      """)
    for (user, access, topic, expected) in [
      (nil, AccessRules.Access.read, "news/a", true), (nil, .write, "news/a", false),
      (nil, .read, "by//a", false), (nil, .write, "id/7/x", true),
      ("anna", .write, "any/thing", true), ("anna", .read, "secret/a", false),
      ("anna", .read, "$SYS/broker/uptime", false), ("bob", .write, "by/bob/a", true),
      ("bob", .write, "by/anna/a", false), ("bob", .read, "news/a", false),
      ("bob", .write, "house/a/set", false), ("eve", .read, "by/eve", true),
    ] as [(String?, AccessRules.Access, String, Bool)] {
      #expect(rules.allows(user, access, topic) == expected, "\(user ?? "-") \(access) \(topic)")
    }
  }

  @Test("The list of `acl` has no gaps, and neither has one that it was added to")
  func complete() throws {
    let list = try wanted { list in
      list.kept = ["lamps", "house", "boss"]
      list.monitors = ["house", "screen"]
      list.approvers = ["boss"]
      list.keepsAnonymous = true
    }.text()
    let logins = ["lamps", "house", "boss", "screen", "hub"]
    let none = AccessGaps(
      AccessRules(list), for: wanted(), logins: logins, allowsAnonymous: true)
    #expect(none.lacksLines == false && none.isOpenToAll == false)
    // A kept approver decides for nobody; it can publish where nobody acts.
    #expect(none.intruders == [])

    let addition = try wanted { list in
      list.kept = ["lamps", "house"]
      list.monitors = ["house"]
      list.isAddition = true
    }.text()
    let own = "user lamps\ntopic readwrite #\n\nuser house\ntopic readwrite #\n"
    #expect(gaps(own + addition, logins: ["lamps", "house", "hub"]).intruders == [])
    #expect(!gaps(own + addition).lacksLines)
    #expect(!addition.contains("readwrite #"))
    // A list may lack the end of its last line.
    #expect(!gaps("user lamps\ntopic read a" + addition).lacksLines)
    let rules = AccessRules("user house\ntopic readwrite homeassistant/#\n" + addition)
    #expect(rules.allows("house", .read, "threadkeeper/bridge/state"))
    #expect(rules.allows("house", .write, "homeassistant/light/a"))
    #expect(!rules.allows("house", .write, "house/lamp"))
  }

  @Test("Who may speak for a router is named, and what the daemon lacks is noticed")
  func gapsOfOthers() {
    let found = gaps(
      "topic readwrite #\nuser nodered\ntopic readwrite #\nuser lamp\ntopic readwrite lamp/#\n",
      logins: ["nodered", "lamp", "hub"], anonymous: true)
    #expect(found.lacksLines)
    #expect(found.intruders == [nil, "nodered"])
    #expect(!found.isOpenToAll)
    let open = gaps("pattern readwrite #\nuser lamp\ntopic readwrite #\n", logins: ["hub"])
    #expect(open.isOpenToAll && open.intruders == ["lamp"])
  }

  @Test("Further spaces between the words of a line are no part of its filter")
  func spaces() {
    let rules = AccessRules("user nodered\ntopic readwrite   #\ntopic  deny  a/#  \n")
    #expect(rules.allows("nodered", .write, "threadkeeper/in/x/announce"))
    #expect(!rules.allows("nodered", .read, "a/b"))
    #expect(rules.lines(of: "nodered", reaching: ["b"]) == ["topic readwrite   #"])
    #expect(gaps("user nodered\ntopic readwrite   #\n").intruders == ["nodered"])
  }
}
