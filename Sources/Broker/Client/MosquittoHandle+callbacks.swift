import CLibMosquitto
import Glibc

extension MosquittoHandle {
  func setCallbacks() {
    mosquitto_connect_v5_callback_set(pointer) { _, object, code, flags, properties in
      guard let record = HandleRecord.at(object) else { return }
      record.packets += 1
      record.answer = HandleRecord.Answer(code, flags, properties)
    }
    mosquitto_disconnect_v5_callback_set(pointer) { _, object, code, _ in HandleRecord.at(object)?.disconnectCode = code
    }
    mosquitto_message_v5_callback_set(pointer) { _, object, message, properties in
      guard let record = HandleRecord.at(object), let message else { return }
      record.append(message.pointee, properties)
      // The library reads on while there is no EAGAIN. With TLS its own wake-up pipe, which nobody
      // empties here, leaves one behind after some 278 acknowledgements, and data that has already
      // been taken from the socket would then wait for ever. When the batch is full, it is just what
      // makes the library stop.
      errno = record.batch.isFull ? EAGAIN : 0
    }
    mosquitto_publish_v5_callback_set(pointer) { _, object, identifier, code, _ in
      guard let record = HandleRecord.at(object) else { return }
      record.packets += 1
      record.published.append(
        HandleRecord.Published(
          identifier: UInt16(truncatingIfNeeded: identifier), code: code, wasWritten: record.isWriting))
    }
    mosquitto_subscribe_callback_set(pointer) { _, object, identifier, count, codes in
      guard let record = HandleRecord.at(object) else { return }
      record.packets += 1
      let granted = UnsafeBufferPointer(start: codes, count: Int(count))
      record.granted.append(HandleRecord.Granted(identifier: identifier, codes: Array(granted)))
    }
    logErrors(true)
  }

  /// The library formats every packet for a log callback, so it has one only while it is needed.
  func logErrors(_ wanted: Bool) {
    guard wanted else {
      mosquitto_log_callback_set(pointer, nil)
      record.errorLog = []
      return
    }
    mosquitto_log_callback_set(pointer) { handle, object, level, text in
      guard level == MOSQ_LOG_ERR, let text, let record = HandleRecord.at(object) else { return }
      if let handle, record.certificate == nil { record.certificate = CertificateFailure(of: handle) }
      // A handful says it; a broken peer must not fill the memory.
      if record.errorLog.count < 8 { record.errorLog.append(String(cString: text)) }
    }
  }
}

extension HandleRecord {
  /// The record lives as long as the handle, and the library calls only from inside the handle's
  /// functions, on its thread.
  fileprivate static func at(_ pointer: UnsafeMutableRawPointer?) -> HandleRecord? {
    pointer.map { Unmanaged<HandleRecord>.fromOpaque($0).takeUnretainedValue() }
  }

  fileprivate func append(_ message: mosquitto_message, _ properties: OpaquePointer?) {
    packets += 1
    guard let topic = message.topic else { return }
    let payload = UnsafeRawBufferPointer(
      start: message.payload, count: message.payload == nil ? 0 : Int(message.payloadlen))
    let hasProperties = properties != nil
    // At once: one that is changed afterwards is copied.
    batch.append(
      IncomingMessage(
        topic: String(cString: topic), payload: [UInt8](payload), qos: message.qos == 0 ? .atMostOnce : .atLeastOnce,
        isRetained: message.retain,
        responseTopic: hasProperties ? PropertyList.string(properties, MQTT_PROP_RESPONSE_TOPIC) : nil,
        correlationData: hasProperties ? PropertyList.bytes(properties, MQTT_PROP_CORRELATION_DATA) : nil,
        messageExpiry: hasProperties ? PropertyList.uint32(properties, MQTT_PROP_MESSAGE_EXPIRY_INTERVAL) : nil))
  }
}

extension HandleRecord.Answer {
  fileprivate init(_ code: Int32, _ flags: Int32, _ properties: OpaquePointer?) {
    self.code = code
    session = MosquittoSession(sessionPresent: flags & 1 != 0, protocolVersion: .v5, publishWindow: 0)
    guard properties != nil else { return }
    session.serverReceiveMaximum = PropertyList.uint16(properties, MQTT_PROP_RECEIVE_MAXIMUM)
    session.maximumPacketSize = PropertyList.uint32(properties, MQTT_PROP_MAXIMUM_PACKET_SIZE)
    session.isRetainAvailable = PropertyList.byte(properties, MQTT_PROP_RETAIN_AVAILABLE) != 0
    session.maximumQoS = PropertyList.byte(properties, MQTT_PROP_MAXIMUM_QOS) ?? 2
    session.areWildcardsAvailable = PropertyList.byte(properties, MQTT_PROP_WILDCARD_SUB_AVAILABLE) != 0
    session.areSharesAvailable = PropertyList.byte(properties, MQTT_PROP_SHARED_SUB_AVAILABLE) != 0
    session.sessionExpiry = PropertyList.uint32(properties, MQTT_PROP_SESSION_EXPIRY_INTERVAL)
    session.serverKeepAlive = PropertyList.uint16(properties, MQTT_PROP_SERVER_KEEP_ALIVE)
  }
}

/// What the library's callbacks have noted since it was last looked at. They copy and nothing else:
/// whatever follows happens after the library's function has returned.
final class HandleRecord {
  struct Answer {
    let code: Int32
    /// All but the version and the window, which the broker does not say.
    var session: MosquittoSession
  }

  struct Published {
    var identifier: UInt16
    var code: Int32
    /// Noted from inside a write: a QoS 0 packet has left. Otherwise a PUBACK has come.
    var wasWritten: Bool
  }

  struct Granted {
    var identifier: Int32
    var codes: [Int32]
  }

  var batch: IntakeBatch
  var answer: Answer?
  var granted: [Granted] = []
  var published: [Published] = []
  /// The code of the last disconnect callback: a reason of MQTT 5 when the broker sent DISCONNECT.
  var disconnectCode: Int32?
  /// What OpenSSL does not accept about the broker's certificate.
  var certificate: CertificateFailure?
  /// What the library logged as an error; kept until the broker has answered.
  var errorLog: [String] = []
  /// Rises with every packet that a callback saw: a read that leaves it alone brought nothing.
  var packets: UInt = 0
  /// Which of the library's functions is running.
  var isWriting = false

  init(batch: IntakeBatch) { self.batch = batch }
}

extension MosquittoHandle {
  /// Queues a PUBLISH; `write` sends it.
  ///
  /// - Returns: the packet identifier that the acknowledgement will carry.
  /// - Throws: what makes this one message impossible. A dead connection is none of it: there the
  ///   packet is queued and goes with the handle.
  func publish(_ publication: Publication) throws(MosquittoError) -> UInt16 {
    // A zero byte would end the C string. All else that is no topic the library refuses itself.
    guard !publication.topic.hasZeroByte, let length = Int32(exactly: publication.payload.count) else {
      throw MosquittoError(publish: MOSQ_ERR_INVAL.rawValue, topic: publication.topic, bytes: publication.payload.count)
    }
    var properties = PropertyList()
    if configuration.protocolVersion == .v5 { properties.add(publication) }
    defer { properties.free() }
    var identifier: Int32 = 0
    let result = buffered {
      // Passed as it is, a text would be copied.
      publication.topic.withCString { topic in
        mosquitto_publish_v5(
          pointer, &identifier, topic, length, publication.payload, Int32(publication.qos.rawValue), publication.retain,
          properties.head)
      }
    }
    guard result == MOSQ_ERR_SUCCESS.rawValue || result == MOSQ_ERR_NO_CONN.rawValue else {
      throw MosquittoError(publish: result, topic: publication.topic, bytes: publication.payload.count)
    }
    return UInt16(truncatingIfNeeded: identifier)
  }

  /// Queues a SUBSCRIBE. Under MQTT 5 the retain flag comes as it was published, unless the
  /// subscription says otherwise, so that who publishes with it is found out at once, not at the next
  /// start.
  ///
  /// - Returns: the packet identifier of the answer.
  func subscribe(_ subscription: MosquittoConfiguration.Subscription) throws(MosquittoError) -> Int32 {
    let options =
      switch subscription.retained {
      case .flagged: MQTT_SUB_OPT_RETAIN_AS_PUBLISHED
      case .asOrdinary: MQTT_SUB_OPT_SEND_RETAIN_NEVER
      case .ownOnce, .own: MQTT_SUB_OPT_NO_LOCAL
      }
    var identifier: Int32 = 0
    let result = mosquitto_subscribe_v5(
      pointer, &identifier, subscription.filter, Int32(subscription.qos.rawValue), Int32(options.rawValue), nil)
    guard result == MOSQ_ERR_SUCCESS.rawValue else { throw error(result, answered: true) }
    return identifier
  }

  /// Queues an UNSUBSCRIBE. Nobody waits for its answer: the broker handles packets in order.
  func unsubscribe(_ filter: String) throws(MosquittoError) {
    let result = mosquitto_unsubscribe_v5(pointer, nil, filter, nil)
    guard result == MOSQ_ERR_SUCCESS.rawValue else { throw error(result, answered: true) }
  }
}
