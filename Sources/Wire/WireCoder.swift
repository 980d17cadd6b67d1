// Public to be inlined across targets only; no product has it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import ThreadkeeperSupport

/// A message of the wire, declared once: what one function passes to a coder.
///
/// ```swift
/// public struct RouterState: WireObject {
///   public mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
///     c.field("access_point", router.accessPoint, .label)
///     c.needed("border_agent_id", router.agent)
///     …
/// ```
///
/// | coder | what becomes of the fields |
/// |---|---|
/// | `WireWriter` | the bytes that are published |
/// | `WireReader` | the values of a message, from bytes of somebody who is not trusted |
/// | `WireDescriber` | the JSON schema |
///
/// A *view* holds a value of a home and passes what is published of it by value: it is written and described. A message
/// that is read holds its values, and passes them by `&`. The order of the fields is their order on the wire; it is
/// that of the bytes of their names, so that equal values are equal bytes.
///
/// The functions that a field goes through while it is written are inlinable, and `fields` is generic over the coder:
/// the optimizer makes one function of a message and `WireWriter` in the module that calls `json`. Only what is `public`,
/// or of a type that is `@usableFromInline`, crosses modules in this way (`@inlinable` alone does not, and takes 2.5 times
/// as long), so that is what the coder and `JSONWriter` are. Declare a message in the module that publishes it, or give
/// it a function there that is not generic.
public protocol WireObject {
  /// Each field once, in the order of the wire.
  mutating func fields<Coder: WireCoder>(_ c: inout Coder)

  /// The message as it is published. A requirement, so that who has any message calls what the optimizer has made of it
  /// in the module that declares it.
  consuming func json(capacity: Int) -> [UInt8]

  /// Members of its schema that say what one field means for others.
  var rules: String { get }
}

extension WireObject { public var rules: String { "" } }

/// An object within a message.
public protocol WirePart: WireObject, WireValue {
  /// Any value of it: what a schema is made from.
  static var sample: Self { get }
}

/// What a message passes its fields to.
public protocol WireCoder {
  /// A field that is left out where it is nil. When it is read, `null` counts as nil.
  ///
  /// - Parameters:
  ///   - name: as it is on the wire; needs no escapes.
  ///   - form: what limits the value, and what it means; nil: as for all values of its type.
  mutating func field<Value: WireValue>(_ name: StaticString, _ value: Value?, _ form: WireForm?)

  /// A field that is always there.
  mutating func needed<Value: WireValue>(_ name: StaticString, _ value: Value, _ form: WireForm?)

  /// A field that is also read.
  mutating func field<Value: WireReadable>(
    _ name: StaticString, _ value: inout Value?, _ form: WireForm?, _ use: WireUse)

  /// A field that is also read, and must be there.
  mutating func needed<Value: WireReadable>(_ name: StaticString, _ value: inout Value, _ form: WireForm?)
}

extension WireCoder {
  // Who does not read takes the value.

  @inlinable public mutating func field<Value: WireReadable>(
    _ name: StaticString, _ value: inout Value?, _ form: WireForm?, _ use: WireUse
  ) { field(name, value, form) }

  @inlinable public mutating func needed<Value: WireReadable>(
    _ name: StaticString, _ value: inout Value, _ form: WireForm?
  ) { needed(name, value, form) }

  // Where the type says all.

  @inlinable public mutating func field<Value: WireValue>(_ name: StaticString, _ value: Value?) {
    field(name, value, nil)
  }

  @inlinable public mutating func needed<Value: WireValue>(_ name: StaticString, _ value: Value) {
    needed(name, value, nil)
  }

  @inlinable public mutating func field<Value: WireReadable>(
    _ name: StaticString, _ value: inout Value?, _ form: WireForm? = nil
  ) { field(name, &value, form, .counts) }

  @inlinable public mutating func needed<Value: WireReadable>(_ name: StaticString, _ value: inout Value) {
    needed(name, &value, nil)
  }

  /// `"v":1`, which messages with a version have.
  @inlinable public mutating func version() { needed("v", WireVersion(), nil) }
}

/// Writes a message straight to bytes, in the order of the calls.
public struct WireWriter: WireCoder {
  public var json: JSONWriter

  @inlinable public init(_ json: consuming JSONWriter) { self.json = json }

  @inlinable @inline(__always) public mutating func field<Value: WireValue>(
    _ name: StaticString, _ value: Value?, _ form: WireForm?
  ) {
    guard let value else { return }
    json.name(name)
    value.write(to: &json)
  }

  @inlinable @inline(__always) public mutating func needed<Value: WireValue>(
    _ name: StaticString, _ value: Value, _ form: WireForm?
  ) {
    json.name(name)
    value.write(to: &json)
  }
}

extension WireWriter {
  @inlinable public mutating func write<Object: WireObject>(_ message: inout Object) {
    json.open()
    message.fields(&self)
    json.close()
  }
}

extension WireObject {
  @inlinable public consuming func json(capacity: Int) -> [UInt8] {
    var writer = WireWriter(JSONWriter(capacity: capacity))
    writer.write(&self)
    return writer.json.bytes
  }

  @inlinable public consuming func json() -> [UInt8] { json(capacity: JSONWriter.usualCapacity) }
}

extension WirePart {
  @inlinable public func write(to json: inout JSONWriter) {
    var message = self
    // The writer alone has the bytes, so that they are not copied.
    var writer = WireWriter(json)
    json = JSONWriter(capacity: 0)
    writer.write(&message)
    json = writer.json
  }

  public static func schema(_ form: WireForm, _ describer: inout WireDescriber) -> String { describer.nested(sample) }

  /// The name of a type of the interface.
  public static var varlink: String { "\(Self.self)" }
}
