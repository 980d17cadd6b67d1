// SPDX-License-Identifier: Apache-2.0

import CLibMosquitto

extension MosquittoHandle {
  /// Queues a PUBLISH; `write` sends it.
  ///
  /// - Returns: the packet identifier that the acknowledgement will carry.
  /// - Throws: what makes this one message impossible. A dead connection is none of it: there the
  ///   packet is queued and goes with the handle.
  func publish(_ publication: Publication) throws(MosquittoError) -> UInt16 {
    // Zero bytes end a C string, wildcards are for filters.
    guard publication.topic.isValidTopic, let length = Int32(exactly: publication.payload.count)
    else {
      throw MosquittoError(
        publish: MOSQ_ERR_INVAL.rawValue, topic: publication.topic,
        bytes: publication.payload.count)
    }
    var properties =
      configuration.protocolVersion == .v5 ? PropertyList(publication) : PropertyList()
    defer { properties.free() }
    var identifier: Int32 = 0
    let result = mosquitto_publish_v5(
      pointer, &identifier, publication.topic, length, publication.payload,
      Int32(publication.qos.rawValue), publication.retain, properties.head)
    guard result == MOSQ_ERR_SUCCESS.rawValue || result == MOSQ_ERR_NO_CONN.rawValue else {
      throw MosquittoError(
        publish: result, topic: publication.topic, bytes: publication.payload.count)
    }
    return UInt16(truncatingIfNeeded: identifier)
  }

  /// Queues a SUBSCRIBE. Under MQTT 5 the retain flag comes as it was published, unless the subscription says otherwise,
  /// so that who publishes with it is found out at once, not at the next start.
  ///
  /// - Returns: the packet identifier of the answer.
  func subscribe(_ subscription: MosquittoConfiguration.Subscription) throws(MosquittoError)
    -> Int32
  {
    let options =
      switch subscription.retained {
      case .flagged: MQTT_SUB_OPT_RETAIN_AS_PUBLISHED
      case .asOrdinary: MQTT_SUB_OPT_SEND_RETAIN_NEVER
      case .ownOnce, .own: MQTT_SUB_OPT_NO_LOCAL
      }
    var identifier: Int32 = 0
    let result = mosquitto_subscribe_v5(
      pointer, &identifier, subscription.filter, Int32(subscription.qos.rawValue),
      Int32(options.rawValue), nil)
    guard result == MOSQ_ERR_SUCCESS.rawValue else { throw error(result, answered: true) }
    return identifier
  }

  /// Queues an UNSUBSCRIBE. Nobody waits for its answer: the broker handles packets in order.
  func unsubscribe(_ filter: String) throws(MosquittoError) {
    let result = mosquitto_unsubscribe_v5(pointer, nil, filter, nil)
    guard result == MOSQ_ERR_SUCCESS.rawValue else { throw error(result, answered: true) }
  }
}
