import Home
import HomeStore
import ThreadDataset
import ThreadkeeperSupport
import Wire

/// `bridge/consent`, retained: how many requests wait for a person, and the one that ends first. Flat, for templates of
/// automations, but for what may be about another request.
struct ConsentState: WireObject {
  /// A question that Home Assistant decides about.
  struct Asked: WirePart {
    let id: String
    let message: String
    let expiresAt: WireTime
    /// What a decision has to repeat.
    let token: String

    static let sample = Asked(id: "", message: "", expiresAt: WireTime(milliseconds: 0), token: "")

    func fields<Coder: WireCoder>(_ c: inout Coder) {
      c.needed("expires_at", expiresAt)
      c.needed("id", id, .consentID)
      c.needed("message", message, .filled("For the person who decides."))
      c.needed("token", token, .text("What a decision through Home Assistant repeats.", pattern: "^[0-9a-f]{32}$"))
    }
  }

  /// What ends first comes first.
  let waiting: [ConsentQuestion]
  let asked: [Asked]

  func fields<Coder: WireCoder>(_ c: inout Coder) {
    let head = waiting.first
    let subject = head?.subject
    c.field("border_agent_id", subject?.router?.agent, "Of `dataset/set`: the router.")
    c.field("command", subject?.command, "[What](#consent) for.")
    c.field("expires_at", head?.expiresAt)
    c.field("ext_pan_id", subject?.onlyNetwork, "Absent where it is about several.")
    c.field(
      "fingerprint", head?.requester.fingerprint,
      .keyFingerprint("Of the key that the answer is sealed to; absent on the socket."))
    c.field(
      "head", head?.id.questionText,
      .consentID("The id of the request that ends first, which the other fields are about."))
    c.field(
      "home_assistant", asked.isEmpty ? nil : asked,
      .filled(
        "Of those that Home Assistant decides about, the 8 that end first: `id`, `message`, `expires_at`, `token`.",
        most: 8))
    c.field("network_name", subject?.names, .networkNames)
    c.needed("pending", waiting.count, "How many wait.")
    c.field("requester", head?.requester.shown, .requester("Who asks: `login hub (team family)`."))
    c.version()
  }

  var rules: String {
    #"""
    "if": {"properties": {"pending": {"const": 0}}},
    "then": {"maxProperties": 2},
    "else": {"required": ["head", "requester", "command", "network_name", "expires_at"]}
    """#
  }
}

extension ConsentSubject.Command: WireValue {
  package func write(to json: inout JSONWriter) { json.text(wireName) }

  package static var form: WireForm { WireForm(name: "consent_command", "What is asked for.") }

  package static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String {
    WireDescriber.words(allCases.map(\.wireName))
  }
}
