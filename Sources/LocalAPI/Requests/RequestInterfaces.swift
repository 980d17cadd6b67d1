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

  private static let answer = WireDescriber(AnswerData()).fields

  private static func reply(_ command: RequestCommand) -> String {
    command.reply.compactMap { field in
      let (name, isOptional) = (field.filter { $0 != "?" }, field.hasSuffix("?"))
      return answer.first { $0.name == name }.map { "\(name): \(isOptional ? "?" : "")\($0.type)" }
    }.joined(separator: ", ")
  }

  /// Objects in replies.
  private static let types = [
    object(CredentialRecord.self), object(FormerNetworkRecord.self), object(WaitingQuestion.self),
  ]

  private static func object<Part: WirePart>(_ part: Part.Type) -> (name: String, text: String) {
    let fields = WireDescriber(Part.sample).fields.map { field in
      let about = field.meaning.isEmpty ? "" : "  # \(field.meaning)\n"
      return "\(about)  \(field.name): \(field.isNeeded ? "" : "?")\(field.type)"
    }
    return (Part.varlink, "(\n\(fields.joined(separator: ",\n"))\n)")
  }

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
