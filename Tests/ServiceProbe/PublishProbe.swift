import CLibAvahi
import Glibc
import ThreadDataset

/// Publishes services as long as its input is open. Reads, and answers `ok` or why not:
///
/// - `set NAME TYPE PORT [STRING …]`: publishes a service, or changes its TXT record. The name and the strings are in
///   hexadecimal; `-` is an empty string.
/// - `remove NAME`: withdraws it.
enum PublishProbe {
  static func run() {
    var code: Int32 = 0
    guard let loop = avahi_threaded_poll_new(),
      let client = avahi_client_new(avahi_threaded_poll_get(loop), AVAHI_CLIENT_NO_FAIL, nil, nil, &code)
    else {
      ServiceProbe.write("no client: \(String(cString: avahi_strerror(code)))")
      exit(1)
    }
    avahi_threaded_poll_start(loop)
    var groups: [String: OpaquePointer] = [:]
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      awaitDaemon(loop, client)
      switch (words.first, words.count) {
      case ("set", 4...): code = set(words, client, &groups)
      case ("remove", 2): code = groups.removeValue(forKey: words[1]).map { avahi_entry_group_free($0) } ?? -1
      default: code = -1
      }
      avahi_threaded_poll_unlock(loop)
      ServiceProbe.write(code == 0 ? "ok" : String(cString: avahi_strerror(code)))
    }
  }

  /// Returns with the lock of the loop, once avahi-daemon, which may be just starting, takes services.
  private static func awaitDaemon(_ loop: OpaquePointer, _ client: OpaquePointer) {
    let limit = ContinuousClock.now + .seconds(60)
    while true {
      avahi_threaded_poll_lock(loop)
      let state = avahi_client_get_state(client)
      if state == AVAHI_CLIENT_S_RUNNING { return }
      avahi_threaded_poll_unlock(loop)
      guard state != AVAHI_CLIENT_FAILURE, ContinuousClock.now < limit else {
        ServiceProbe.write("avahi-daemon does not answer")
        exit(1)
      }
      usleep(20_000)
    }
  }

  private static func set(_ words: [String], _ client: OpaquePointer, _ groups: inout [String: OpaquePointer]) -> Int32
  {
    guard let name = Hexadecimal.decode(words[1]), let port = UInt16(words[3]) else { return -1 }
    var list: UnsafeMutablePointer<AvahiStringList>?
    for word in words[4...] {
      guard let text = word == "-" ? [] : Hexadecimal.decode(word) else { return -1 }
      list = avahi_string_list_add_arbitrary(list, text, text.count)
    }
    defer { avahi_string_list_free(list) }
    let cName = name.map { CChar(bitPattern: $0) } + [0]
    let (everywhere, every) = (Int32(AVAHI_IF_UNSPEC), Int32(AVAHI_PROTO_UNSPEC))
    let flags = AvahiPublishFlags(0)
    if let group = groups[words[1]] {
      return avahi_entry_group_update_service_txt_strlst(group, everywhere, every, flags, cName, words[2], nil, list)
    }
    guard let group = avahi_entry_group_new(client, { _, _, _ in }, nil) else { return avahi_client_errno(client) }
    groups[words[1]] = group
    let code = avahi_entry_group_add_service_strlst(
      group, everywhere, every, flags, cName, words[2], nil, nil, port, list)
    return code == 0 ? avahi_entry_group_commit(group) : code
  }
}
