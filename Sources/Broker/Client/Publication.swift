import CLibMosquitto
import Glibc

/// A message that is to be published.
package struct Publication: Sendable, Equatable {
  package var topic: String
  /// At most 268,435,455 bytes less the header; a last will at most 65,535.
  package var payload: [UInt8]
  package var qos: QualityOfService
  /// Whether the broker keeps it for later subscribers. An empty retained payload deletes.
  package var retain: Bool
  // Not `T?`: that sets a field to nil before the initializer does, and has it copy the whole value at its end.
  /// Seconds after which the broker drops it (MQTT 5 only).
  package var messageExpiry: Optional<UInt32>
  /// The kind of payload, as a MIME type (MQTT 5 only).
  package var contentType: Optional<String>
  /// Echoed from the request that this answers (MQTT 5 only).
  package var correlationData: Optional<[UInt8]>
  /// Where an answer to this is wanted (MQTT 5 only).
  package var responseTopic: Optional<String>
  /// The caller's name for it: `MosquittoHandler.acknowledged` gets it again.
  package var token: UInt64

  package init(
    topic: String, payload: [UInt8], qos: QualityOfService = 1, retain: Bool = false, messageExpiry: UInt32? = nil,
    contentType: String? = nil, correlationData: [UInt8]? = nil, responseTopic: String? = nil, token: UInt64 = 0
  ) {
    self.topic = topic
    self.payload = payload
    self.qos = qos
    self.retain = retain
    self.messageExpiry = messageExpiry
    self.contentType = contentType
    self.correlationData = correlationData
    self.responseTopic = responseTopic
    self.token = token
  }
}

extension Publication {
  /// What it takes in memory.
  package var bytes: Int {
    topic.utf8.count + payload.count + (contentType?.utf8.count ?? 0) + (correlationData?.count ?? 0)
      + (responseTopic?.utf8.count ?? 0)
  }
}

extension Publication: CustomStringConvertible {
  /// Topic and size; a payload may be sealed or private and is never shown.
  package var description: String { "\(topic) (\(payload.count) bytes\(retain ? ", retained" : ""))" }
}

/// What its sender knows of a publication that was handed over.
package struct SentPublication: Sendable, Equatable {
  /// That of the publication.
  package var token: UInt64 = 0
  package var topic = ""
  /// Whether it had no payload.
  package var isEmpty = false

  init() {}

  package init(_ publication: Publication) {
    (token, topic, isEmpty) = (publication.token, publication.topic, publication.payload.isEmpty)
  }
}

/// What became of a publication.
package enum PublicationOutcome: Sendable, Equatable {
  /// The broker has acknowledged it, or it was written to the socket when it has QoS 0.
  ///
  /// An MQTT 3.1.1 broker also acknowledges what its access list then throws away: it has no way
  /// to say no.
  case delivered
  /// The broker or the library refused this one message; the connection lives on.
  case refused(MosquittoError)
}

/// A message that the broker delivered.
package struct IncomingMessage: Sendable, Equatable {
  /// The topic it was published to.
  package var topic: String
  /// The payload, byte for byte; may be empty.
  package var payload: [UInt8]
  /// The quality of service of this delivery: the lower one of publisher and subscription.
  package var qos: QualityOfService
  /// True when the broker kept this message and sends it because the subscription is new.
  package var isRetained: Bool
  // As those of a publication.
  /// Where the publisher wants an answer (MQTT 5 only).
  package var responseTopic: Optional<String>
  /// What the answer must carry (MQTT 5 only).
  package var correlationData: Optional<[UInt8]>
  /// Seconds that were left until the message would have expired (MQTT 5 only).
  package var messageExpiry: Optional<UInt32>

  package init(
    topic: String, payload: [UInt8], qos: QualityOfService = 1, isRetained: Bool = false, responseTopic: String? = nil,
    correlationData: [UInt8]? = nil, messageExpiry: UInt32? = nil
  ) {
    self.topic = topic
    self.payload = payload
    self.qos = qos
    self.isRetained = isRetained
    self.responseTopic = responseTopic
    self.correlationData = correlationData
    self.messageExpiry = messageExpiry
  }
}

extension IncomingMessage {
  /// What it takes in memory, with what a publisher can make as large as the payload.
  var bytes: Int { topic.utf8.count + payload.count + (responseTopic?.utf8.count ?? 0) + (correlationData?.count ?? 0) }
}

extension IncomingMessage: CustomStringConvertible {
  /// Topic and size. The payload may hold a network key and is never shown.
  package var description: String { "\(topic) (\(payload.count) bytes\(isRetained ? ", retained" : ""))" }
}

/// A list of MQTT 5 properties that the library allocates. What can't be added (no memory, or not
/// UTF-8) is left out; the library's functions check the list as a whole.
struct PropertyList {
  private(set) var head: OpaquePointer?

  mutating func add(_ property: mqtt5_property, _ value: UInt32) {
    mosquitto_property_add_int32(&head, Int32(property.rawValue), value)
  }

  mutating func add(_ property: mqtt5_property, _ value: String) {
    mosquitto_property_add_string(&head, Int32(property.rawValue), value)
  }

  mutating func add(_ property: mqtt5_property, _ value: [UInt8]) {
    // The length field has 16 bits.
    guard let length = UInt16(exactly: value.count) else { return }
    mosquitto_property_add_binary(&head, Int32(property.rawValue), value, length)
  }

  /// Everything that a PUBLISH or a last will can carry.
  mutating func add(_ publication: Publication) {
    if let expiry = publication.messageExpiry { add(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL, expiry) }
    if let type = publication.contentType { add(MQTT_PROP_CONTENT_TYPE, type) }
    if let topic = publication.responseTopic { add(MQTT_PROP_RESPONSE_TOPIC, topic) }
    if let data = publication.correlationData { add(MQTT_PROP_CORRELATION_DATA, data) }
  }

  mutating func free() { mosquitto_property_free_all(&head) }

  /// Hands the list over to the library, which frees it.
  mutating func release() { head = nil }

  // MARK: Reading what came

  static func uint32(_ list: OpaquePointer?, _ property: mqtt5_property) -> UInt32? {
    var value: UInt32 = 0
    let found = mosquitto_property_read_int32(list, Int32(property.rawValue), &value, false)
    return found == nil ? nil : value
  }

  static func uint16(_ list: OpaquePointer?, _ property: mqtt5_property) -> UInt16? {
    var value: UInt16 = 0
    let found = mosquitto_property_read_int16(list, Int32(property.rawValue), &value, false)
    return found == nil ? nil : value
  }

  static func byte(_ list: OpaquePointer?, _ property: mqtt5_property) -> UInt8? {
    var value: UInt8 = 0
    let found = mosquitto_property_read_byte(list, Int32(property.rawValue), &value, false)
    return found == nil ? nil : value
  }

  static func string(_ list: OpaquePointer?, _ property: mqtt5_property) -> String? {
    var value: UnsafeMutablePointer<CChar>?
    let found = mosquitto_property_read_string(list, Int32(property.rawValue), &value, false)
    defer { Glibc.free(value) }
    guard found != nil, let value else { return nil }
    return String(cString: value)
  }

  static func bytes(_ list: OpaquePointer?, _ property: mqtt5_property) -> [UInt8]? {
    var value: UnsafeMutableRawPointer?
    var length: UInt16 = 0
    let found = mosquitto_property_read_binary(list, Int32(property.rawValue), &value, &length, false)
    defer { Glibc.free(value) }
    guard found != nil else { return nil }
    return [UInt8](UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : Int(length)))
  }
}
