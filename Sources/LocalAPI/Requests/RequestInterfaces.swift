import ThreadRequests
import Wire

extension RequestMethods {
  /// The text of an interface, from the declarations of its requests. See docs/interfaces, and `io.threadkeeper.Failed`.
  static func interface(_ name: String, _ about: String) -> VarlinkInterface {
    let requests = RequestCommand.allCases.filter { place($0)?.interface == name }
    let replies = requests.map { reply($0) }
    let head = comment(about) + "#\n" + comment(common) + meanings(of: requests)
    var parts = ["\(head)interface io.threadkeeper.\(name)"]
    for (type, text) in types where replies.contains(where: { $0.contains("[]\(type)") }) {
      parts.append("type \(type) \(text)")
    }
    for (command, reply) in zip(requests, replies) {
      let method = place(command)?.method ?? ""
      parts.append(comment("\(command.about)") + "method \(method)(\(parameters(command))) -> (\(reply))")
    }
    return VarlinkInterface(parts.joined(separator: "\n\n") + "\n")
  }

  /// What any request may have.
  private static let common = """
    `home` is the first one of the settings where it is absent. `transaction`, any text that no other call has, shows \
    in io.threadkeeper.Questions what a call waits for. What fails is `io.threadkeeper.Failed` with the codes of the \
    MQTT requests. The parameters:
    """

  private static func reply(_ command: RequestCommand) -> String {
    command.reply.map { field in
      let isOptional = field.hasSuffix("?")
      let name = isOptional ? String(field.dropLast()) : field
      return "\(name): \(isOptional ? "?" : "")\(replyTypes[name] ?? "string")"
    }.joined(separator: ", ")
  }

  /// Of the fields of `AnswerData` that are no texts.
  private static let replyTypes = [
    "alerts": "[]object", "available": "bool", "change": "(stored, updated, unchanged)", "changed": "bool",
    "credentials": "[]Credential", "damaged": "[]string", "deleted": "bool", "differs": "[]string",
    "forgotten": "[]FormerNetwork", "networks": "[]object", "pending": "[]Question",
    "preferred": "(match, mismatch, none)", "remaining": "[]string", "result": "(match, mismatch, none)",
    "routers": "[]object", "shared_by": "[]string",
  ]

  /// Objects in replies.
  private static let types = [
    (
      "Credential",
      """
      (
        # Absent for the preferred network where the caller has no router on it.
        border_agent_id: ?string,
        ext_pan_id: string,
        network_name: string,
        channel: ?int,
        pan_id: ?int,
        # Seconds.
        active_timestamp: ?int,
        # RFC 3339.
        created_at: ?string,
        modified_at: ?string,
        # Whether its router is there and can be reached.
        active: bool,
        # The Active Operational Dataset, keys included, as hexadecimal digits.
        dataset: ?string
      )
      """
    ),
    (
      "FormerNetwork",
      """
      (
        # For `Set`.
        id: string,
        network_name: string,
        ext_pan_id: string,
        channel: ?int,
        active_timestamp: ?int,
        # When it was replaced; RFC 3339.
        until: string
      )
      """
    ),
    (
      "Question",
      """
      (
        id: string,
        # The MQTT request that it is about: `preferred/get`.
        command: string,
        # Of `network/get`.
        ext_pan_id: ?string,
        # RFC 3339.
        expires_at: string,
        # Of the calls that wait for it.
        transactions: ?[]string,
        # Who would get what, and why it matters: with `administrator` only.
        reason: ?string
      )
      """
    ),
  ]

  private static let known = WireDescriber(RequestFields(on: .socket)).fields

  /// What of its fields are on the socket.
  private static func parameters(_ command: RequestCommand) -> String {
    let own = command.parameters.map { (name: $0.rawValue, isNeeded: command.needs($0)) }
    return ([("home", false)] + own).compactMap { name, isNeeded in
      known.first { $0.name == name }.map { "\(name): \(isNeeded ? "" : "?")\($0.type)" }
    }.joined(separator: ", ")
  }

  private static func meanings(of commands: [RequestCommand]) -> String {
    let names = Set(commands.flatMap(\.parameters).map(\.rawValue))
    return known.filter { names.contains($0.name) }.map { comment("`\($0.name)`: \($0.meaning)") }.joined()
  }

  /// Lines of at most 118 columns.
  private static func comment(_ text: String) -> String {
    var lines = ["#"]
    for word in text.split(separator: " ") {
      if lines[lines.count - 1].count + 1 + word.count > 118 { lines.append("#") }
      lines[lines.count - 1] += " \(word)"
    }
    return lines.map { "\($0)\n" }.joined()
  }
}
