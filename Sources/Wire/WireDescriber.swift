// Public to be inlined across targets only; no product has it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Makes the JSON schema (draft-07) of a message from its declaration, and knows its fields for Varlink and the
/// documents. What messages share stands in `definitions`, by the name of its form. Nothing is allowed but what is
/// declared.
public struct WireDescriber: WireCoder, Sendable {
  public struct Field: Sendable {
    public let name: String
    public let schema: String
    public let isNeeded: Bool
    /// Nil of one that is not read.
    public let use: WireUse?
    /// In an interface of Varlink.
    public let type: String
    /// What it means here, in Markdown; empty: what its type does everywhere.
    public let meaning: String
  }

  /// In the order of the wire.
  public private(set) var fields: [Field] = []
  /// In the order in which they are first used.
  public private(set) var definitions: [(name: String, schema: String)] = []
  /// Whether one of the fields holds a secret.
  public private(set) var hasSecrets = false

  /// See `WireObject`.
  private let rules: String

  public init(_ sample: some WireObject) {
    rules = sample.rules
    var copy = sample
    copy.fields(&self)
  }

  public mutating func field<Value: WireValue>(_ name: StaticString, _ value: Value?, _ form: WireForm?) {
    add(name, Value.self, form, isNeeded: false)
  }

  public mutating func needed<Value: WireValue>(_ name: StaticString, _ value: Value, _ form: WireForm?) {
    add(name, Value.self, form, isNeeded: true)
  }

  public mutating func field<Value: WireReadable>(
    _ name: StaticString, _ value: inout Value?, _ form: WireForm?, _ use: WireUse
  ) { add(name, Value.self, form, isNeeded: false, use) }

  private mutating func add<Value: WireValue>(
    _ name: StaticString, _ type: Value.Type, _ form: WireForm?, isNeeded: Bool, _ use: WireUse? = nil
  ) {
    let form = form?.naming(Value.form) ?? Value.form
    hasSecrets = hasSecrets || form.over(Value.form).isSecret
    let meaning = form.name == nil ? form.about : form.note
    fields.append(
      Field(
        name: "\(name)", schema: schema(of: type, form), isNeeded: isNeeded, use: use, type: Value.varlink,
        meaning: "\(meaning)"))
  }

  /// The schema of a value, or a reference to its definition.
  mutating func schema<Value: WireValue>(of type: Value.Type, _ form: WireForm) -> String {
    let about = "\(form.about)"
    let members = Value.schema(form.over(Value.form), &self)
    let schema = about.isEmpty ? "{\(members)}" : #"{"description": "\#(about)", \#(members)}"#
    guard let name = form.name.map({ "\($0)" }) else { return schema }
    if !definitions.contains(where: { $0.name == name }) { definitions.append((name, schema)) }
    return ##"{"$ref": "#/definitions/\##(name)"}"##
  }

  /// Members of the schema of an object in another one.
  mutating func nested(_ sample: some WireObject) -> String {
    let inner = WireDescriber(sample)
    hasSecrets = hasSecrets || inner.hasSecrets
    for one in inner.definitions where !definitions.contains(where: { $0.name == one.name }) { definitions.append(one) }
    return inner.members
  }

  private var members: String {
    let needed = fields.filter(\.isNeeded).map { #""\#($0.name)""# }
    let properties = fields.map { #""\#($0.name)": \#($0.schema)"# }
    return #""type": "object", "required": [\#(needed.joined(separator: ", "))], "properties": "#
      + #"{\#(properties.joined(separator: ", "))}, "additionalProperties": false"#
      + (rules.isEmpty ? "" : ", \(rules)")
  }

  /// One of these.
  public static func words(_ words: [String]) -> String {
    let each = words.enumerated().filter { words[..<$0].contains($1) == false }
    return #""enum": [\#(each.map { #""\#($0.element)""# }.joined(separator: ", "))]"#
  }

  /// A schema as a file of its own, in one line.
  ///
  /// - Parameters:
  ///   - title: the topic.
  public static func document(_ sample: some WireObject, title: String, about: String? = nil) -> String {
    let describer = WireDescriber(sample)
    let definitions = describer.definitions.map { #""\#($0.name)": \#($0.schema)"# }
    return #"{"$schema": "http://json-schema.org/draft-07/schema#", "title": "\#(title)", "#
      + (about.map { #""description": "\#($0)", "# } ?? "") + describer.members
      + (definitions.isEmpty ? "" : #", "definitions": {\#(definitions.joined(separator: ", "))}"#) + "}"
  }
}
