// SPDX-License-Identifier: Apache-2.0

import CLibMosquitto
import Glibc

extension MosquittoHandle {
  /// Everything that must be said before connecting.
  func applyConfiguration() throws(MosquittoError) {
    let version =
      configuration.protocolVersion == .v5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311
    mosquitto_int_option(pointer, MOSQ_OPT_PROTOCOL_VERSION, version)
    // Held back until `write`: without this, an acknowledgement leaves before the callback.
    mosquitto_threaded_set(pointer, true)
    mosquitto_int_option(
      pointer, MOSQ_OPT_RECEIVE_MAXIMUM, Int32(configuration.receiveMaximum))
    // Our own window is never larger, so the library never holds a publication back.
    mosquitto_int_option(pointer, MOSQ_OPT_SEND_MAXIMUM, Int32(configuration.sendMaximum))
    mosquitto_int_option(pointer, MOSQ_OPT_TCP_NODELAY, 1)
    if let username = configuration.username {
      try check(mosquitto_username_pw_set(pointer, username, configuration.password))
    }
    if let lastWill = configuration.lastWill { try setLastWill(lastWill) }
    if let tls = configuration.tls { try setTLS(tls) }
  }

  private func setLastWill(_ will: Publication) throws(MosquittoError) {
    var properties = configuration.protocolVersion == .v5 ? PropertyList(will) : PropertyList()
    let result = mosquitto_will_set_v5(
      pointer, will.topic, Int32(will.payload.count), will.payload, Int32(will.qos.rawValue),
      will.retain, properties.head)
    if result == MOSQ_ERR_SUCCESS.rawValue { properties.release() } else { properties.free() }
    try check(result)
  }

  private func setTLS(_ tls: MosquittoConfiguration.TLS) throws(MosquittoError) {
    let files = [
      ("mqtt.tls.ca_file", tls.caFile), ("mqtt.tls.cert_file", tls.certificateFile),
      ("mqtt.tls.key_file", tls.keyFile),
    ]
    for case (let setting, let path?) in files where access(path, R_OK) != 0 {
      throw .unreadable(setting, path, errno)
    }
    try check(
      mosquitto_tls_set(
        pointer, tls.caFile, nil, tls.certificateFile, tls.keyFile,
        // A locked key file: no passphrase, instead of a question on the terminal.
        { _, _, _, _ in 0 }))
  }

  private func check(_ result: Int32) throws(MosquittoError) {
    guard result != MOSQ_ERR_SUCCESS.rawValue else { return }
    throw error(result, answered: false)
  }
}
