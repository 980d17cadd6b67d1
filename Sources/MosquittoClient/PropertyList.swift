// SPDX-License-Identifier: Apache-2.0

import CLibMosquitto
import Glibc

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
  init(_ publication: Publication) {
    if let expiry = publication.messageExpiry { add(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL, expiry) }
    if let type = publication.contentType { add(MQTT_PROP_CONTENT_TYPE, type) }
    if let topic = publication.responseTopic { add(MQTT_PROP_RESPONSE_TOPIC, topic) }
    if let data = publication.correlationData { add(MQTT_PROP_CORRELATION_DATA, data) }
  }

  init() {}

  mutating func free() {
    mosquitto_property_free_all(&head)
  }

  /// Hands the list over to the library, which frees it.
  mutating func release() {
    head = nil
  }

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
    let found = mosquitto_property_read_binary(
      list, Int32(property.rawValue), &value, &length, false)
    defer { Glibc.free(value) }
    guard found != nil else { return nil }
    return [UInt8](UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : Int(length)))
  }
}
