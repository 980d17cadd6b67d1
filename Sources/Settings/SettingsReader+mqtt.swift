// SPDX-License-Identifier: Apache-2.0

extension SettingsReader {
  mutating func mqtt() -> Settings.MQTT {
    var mqtt = Settings.MQTT()
    let host = host()
    mqtt.host = host ?? mqtt.host
    mqtt.tls = tls()
    let usesTLS = SettingsKey.tlsKeys.contains { sources[$0] != nil }
    let port = number(.mqttPort, in: 1...65_535).flatMap(UInt16.init(exactly:))
    mqtt.port = port ?? (usesTLS ? 8883 : 1883)
    mqtt.username = userName()
    mqtt.password = text(.mqttPassword) {
      (1...65_535).contains($0.utf8.count) && !$0.contains("\0")
    }
    .map(SecretText.init)
    mqtt.clientID = text(.mqttClientID) { id in
      (1...64).contains(id.utf8.count) && id.utf8.allSatisfy(ASCII.isNameByte)
    }
    mqtt.baseTopic = text(.mqttBaseTopic, where: BaseTopic.isFit) ?? mqtt.baseTopic
    mqtt.protocolVersion =
      choice(.mqttProtocol, among: [Settings.MQTT.ProtocolVersion.v5, .v311])
      ?? mqtt.protocolVersion
    if sources[.mqttPassword] != nil, sources[.mqttUsername] == nil {
      report(
        .mqttPassword, at: place(of: .mqttPassword),
        "needs `mqtt.username`: a password alone is no login")
    }
    if host == .embedded || sources[.mqttHost] == nil { warnOfUnusedKeys() }
    return mqtt
  }

  private mutating func host() -> Settings.MQTT.Host? {
    guard let entry = textEntry(of: .mqttHost) else { return nil }
    if entry.text == "embedded" { return .embedded }
    if HostName.isFit(entry.text) { return .named(entry.text) }
    let expected = "expected \(SettingsKey.mqttHost.expectation), found "
    switch HostName.mistake(in: entry.text) {
    case .url:
      // A URL may hold a password, so it is not repeated.
      report(
        .mqttHost, at: entry.place,
        expected + "a URL; user, password and port have keys of their own, TLS has `mqtt.tls`")
    case .port:
      report(.mqttHost, at: entry.place, expected + "\(entry.found); the port goes to `mqtt.port`")
    case .other:
      noteUnfit(entry, for: .mqttHost)
    }
    return nil
  }

  /// A problem does not repeat it: names stand beside passwords in people's notes.
  private mutating func userName() -> String? {
    let key = SettingsKey.mqttUsername
    guard let entry = textEntry(of: key) else { return nil }
    let text = entry.text.unicodeScalars
    guard !text.isEmpty, text.count <= 256, !text.contains(where: ASCII.isControl) else {
      let found = text.isEmpty ? "nothing" : "\(text.count) characters or a control character"
      report(key, at: entry.place, "expected \(key.expectation), found \(found)")
      return nil
    }
    // One level of a topic in the access list, whose wildcards are the other two.
    if let unfit = text.first(where: { ["/", "+", "#"].contains($0) }) {
      report(key, at: entry.place, "expected \(key.expectation), found a `\(unfit)`")
      return nil
    }
    return entry.text
  }

  private mutating func tls() -> Settings.MQTT.TLS? {
    let authority = existingFile(.mqttCAFile)
    let certificate = existingFile(.mqttCertFile)
    let key = existingFile(.mqttKeyFile)
    if sources[.mqttCAFile] == nil,
      let given = [SettingsKey.mqttCertFile, .mqttKeyFile].first(where: { sources[$0] != nil })
    {
      report(
        given, at: place(of: given),
        "needs `mqtt.tls.ca_file`; the authorities of the system are in "
          + "/etc/ssl/certs/ca-certificates.crt")
    }
    switch (sources[.mqttCertFile], sources[.mqttKeyFile]) {
    case (let given?, nil):
      report(
        .mqttCertFile, at: given.place,
        "needs `mqtt.tls.key_file`: a certificate and its key go together")
    case (nil, let given?):
      report(
        .mqttKeyFile, at: given.place,
        "needs `mqtt.tls.cert_file`: a key and its certificate go together")
    default: break
    }
    return authority.map { Settings.MQTT.TLS(caFile: $0, certFile: certificate, keyFile: key) }
  }

  private mutating func existingFile(_ key: SettingsKey) -> String? {
    guard let path = path(key), let source = sources[key] else { return nil }
    // A path that came out of a secret's file may be the secret itself.
    let isShown = if case .text = source.content { true } else { false }
    let file = isShown ? SettingsEntry.shown(path: path) : "the file of that name"
    do throws(FileFailure) {
      if try OpenFile(path).isReadableByOthers, key == .mqttKeyFile {
        warn(key, at: source.place, "\(file) \(OpenFile.openToOthers)")
      }
    } catch {
      let message = "\(file) \(error.reason)"
      // The service may have rights that whoever checks the settings has not.
      if error.isRefusal {
        warn(key, at: source.place, message)
      } else {
        report(key, at: source.place, message)
      }
    }
    return path
  }

  /// Who names a user but no broker has most likely forgotten the broker.
  private mutating func warnOfUnusedKeys() {
    for key in [SettingsKey.mqttUsername, .mqttPassword] + SettingsKey.tlsKeys {
      guard sources[key] != nil else { continue }
      warn(
        key, at: place(of: key),
        "has no effect while `mqtt.host` is `embedded`; name your broker in `mqtt.host`")
    }
  }
}

extension SettingsKey {
  static let tlsKeys: [SettingsKey] = [.mqttCAFile, .mqttCertFile, .mqttKeyFile]
}
