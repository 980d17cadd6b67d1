import Glibc
import ThreadkeeperSupport

/// The files of the private broker.
///
/// ```
/// mosquitto.conf  acl  passwords (hashes)   written at each start
/// logins (name and password)  port          kept from run to run
/// clients/<name>/mosquitto_pub|sub|rr       options for Mosquitto's own tools
/// data/  mosquitto.log  mosquitto.pid  lock  socket
/// ```
struct BrokerDirectory {
  let path: String

  var configurationFile: String { "\(path)/mosquitto.conf" }
  var accessListFile: String { "\(path)/acl" }
  var passwordFile: String { "\(path)/passwords" }
  var loginsFile: String { "\(path)/logins" }
  var portFile: String { "\(path)/port" }
  var logFile: String { "\(path)/mosquitto.log" }
  var processFile: String { "\(path)/mosquitto.pid" }
  var lockFile: String { "\(path)/lock" }
  /// Nil where the path is longer than the kernel takes (sun_path of unix(7)).
  var socket: String? {
    let socket = "\(path)/socket"
    return socket.utf8.count < 108 ? socket : nil
  }
  var dataDirectory: String { "\(path)/data/" }

  func clientDirectory(_ user: String) -> String { "\(path)/clients/\(user)" }

  /// Whether the broker has logged that it runs: when it has read its files and opened its listeners.
  var isLoggedAsRunning: Bool { PrivateFile.read(logFile)?.contains(" running\n") == true }

  /// The end of the broker's log.
  var logTail: String {
    let lines = (PrivateFile.read(logFile, last: 4096) ?? "").split(separator: "\n")
    return lines.suffix(10).joined(separator: "\n")
  }

  var keptPort: UInt16? { PrivateFile.read(portFile).flatMap { UInt16($0.filter(\.isNumber)) } }

  /// Name to password, one pair a line with a tab in between.
  var keptPasswords: [String: String] {
    var passwords: [String: String] = [:]
    for line in (PrivateFile.read(loginsFile) ?? "").split(separator: "\n") {
      let parts = line.split(separator: "\t", maxSplits: 1)
      if parts.count == 2 { passwords[String(parts[0])] = String(parts[1]) }
    }
    return passwords
  }

  func writeLogins(_ passwords: [String: String], port: UInt16) throws(EmbeddedBrokerError) {
    let names = passwords.keys.sorted()
    try PrivateFile.write(names.map { "\($0)\t\(passwords[$0] ?? "")\n" }.joined(), to: loginsFile)
    try PrivateFile.makeDirectory("\(path)/clients")
    for name in names {
      let directory = clientDirectory(name)
      try PrivateFile.makeDirectory(directory)
      let options = "-h 127.0.0.1\n-p \(port)\n-u \(name)\n-P \(passwords[name] ?? "")\n"
      for tool in ["mosquitto_pub", "mosquitto_sub", "mosquitto_rr"] {
        try PrivateFile.write(options, to: "\(directory)/\(tool)")
      }
    }
  }

  func writeConfiguration(_ configuration: EmbeddedBrokerConfiguration, port: UInt16) throws(EmbeddedBrokerError) {
    var lines = [
      "# Rewritten at each start.", "listener \(port) 127.0.0.1", "allow_anonymous \(configuration.logins.isEmpty)",
    ]
    if let socket {
      lines += [
        "# For the daemon: nobody else can listen there when the broker is away. The port is for scripts.",
        "listener 0 \(socket)",
      ]
    }
    if !configuration.logins.isEmpty { lines += ["password_file \(passwordFile)", "acl_file \(accessListFile)"] }
    if configuration.persistence {
      try PrivateFile.makeDirectory(String(dataDirectory.dropLast()))
      lines += ["persistence true", "persistence_location \(dataDirectory)", "autosave_interval 60"]
    } else {
      lines.append("persistence false")
    }
    lines += [
      "# A stock broker keeps 1000 messages for a client that is away, and drops the newest. Not 0,",
      "# which means no limit: Mosquitto 2.0.11 then closes a connection for one denied message.",
      "max_queued_messages 1000000", "max_queued_bytes 268435456",
      "# A larger packet ends its connection before it fills the memory.", "max_packet_size 65536",
      "max_inflight_messages \(configuration.receiveMaximum)", "set_tcp_nodelay true", "log_dest stderr",
      "log_timestamp_format %Y-%m-%dT%H:%M:%S",
    ]
    // It would become another user, who can't read this directory.
    if geteuid() == 0 { lines.append("user root") }
    lines += configuration.extraConfiguration
    try PrivateFile.write(lines.joined(separator: "\n") + "\n", to: configurationFile)
  }
}

/// Files that only their owner may read.
enum PrivateFile {
  /// Writes a whole file with mode 0600. A reader sees the old or the new text, never a part.
  static func write(_ text: String, to path: String) throws(EmbeddedBrokerError) {
    let temporary = path + ".new"
    unlink(temporary)
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .file(temporary, "write", errno) }
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else {
        let code = errno
        close(descriptor)
        throw .file(temporary, "write", code)
      }
      rest = rest.dropFirst(count)
    }
    close(descriptor)
    guard rename(temporary, path) == 0 else { throw .file(path, "write", errno) }
  }

  /// The text of a file, or its last `limit` bytes; nil when it can't be read.
  static func read(_ path: String, last limit: Int = 1 << 22) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // Files of the kernel have no size and no end to seek to; there this does nothing.
    if lseek(descriptor, 0, SEEK_END) > limit {
      lseek(descriptor, -limit, SEEK_END)
    } else {
      lseek(descriptor, 0, SEEK_SET)
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while bytes.count < limit {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      guard count > 0 else { break }
      bytes.append(contentsOf: buffer[..<count])
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Makes a directory with mode 0700; one that is there already must be this user's and gets that mode.
  static func makeDirectory(_ path: String) throws(EmbeddedBrokerError) {
    if mkdir(path, 0o700) == 0 { return }
    guard errno == EEXIST else { throw .file(path, "make the directory", errno) }
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw .file(path, "use the directory", ENOTDIR)
    }
    // Root could change the mode of another user's directory, and that user could still replace what is in it.
    guard status.st_uid == geteuid() else { throw .foreignDirectory(path, owner: status.st_uid) }
    guard chmod(path, 0o700) == 0 else { throw .file(path, "protect the directory", errno) }
  }

  /// Removes a file, or a directory with all that is in it. A link is removed, not followed.
  static func remove(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      unlink(path)
      return
    }
    for name in DirectoryNames.list(path) { remove("\(path)/\(name)") }
    rmdir(path)
  }
}
