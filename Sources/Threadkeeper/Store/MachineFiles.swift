import FoundationEssentials
import Glibc
import KeychainCore
import Settings
import ThreadkeeperSupport

/// What makes the machine beside its store, as a backup has it: the files of this program, and which of its units start.
/// Files of other packages are not in it.
struct MachineFiles: Codable, Equatable {
  static let mostFiles = 64
  /// Of all files. In JSON, and as base64, they are within `Keychain.longestAttachment`.
  static let mostBytes = 128 << 10
  static let unitNames =
    ["threadkeeper"] + MachineAgent.allCases.map(\.unit) + ["threadkeeper-agent-matter", "threadkeeper-agent-ssid"]

  enum Place: String, Codable {
    /// The configuration file, whatever its name.
    case settings
    /// Others in the directory of the whole machine's.
    case besideSettings = "beside_settings"
    case agents
    case agentState = "agent_state"
    case pageToken = "page_token"

    /// Whether there is one file of it, whose name follows from something else.
    var isOneFile: Bool { self == .settings || self == .pageToken }
  }

  /// Whose a file is. The numbers of users differ between machines.
  enum Owner: String, Codable {
    case root
    case daemon
    case agent

    /// The package's name for it.
    var account: String {
      switch self {
      case .root: "root"
      case .daemon: StoreOwner.service
      case .agent: StoreOwner.agents
      }
    }
  }

  struct File: Codable, Equatable {
    var place: Place
    /// In its directory; empty where `isOneFile`.
    var name: String
    var owner: Owner
    /// Nil for a group that another machine need not have.
    var group: Owner?
    var mode: UInt32
    var contents: Data
  }

  var files: [File] = []
  var units: [String] = []
  /// Host and port; nil: the private one.
  var broker: String?
}

extension MachineFiles {
  /// What a backup was given along.
  ///
  /// - Throws: `CommandFailure` with status 65: who has a key of the store can write any backup, and root reads it.
  init(decoding bytes: [UInt8]) throws(CommandFailure) {
    guard let read = try? JSONDecoder().decode(Self.self, from: Data(bytes)), read.isValid else {
      throw CommandFailure(.badInput, "the backup has files that cannot be put back")
    }
    self = read
  }

  private var isValid: Bool {
    files.count <= Self.mostFiles && units.allSatisfy(Self.unitNames.contains)
      && files.allSatisfy { file in
        guard !file.place.isOneFile else { return file.name.isEmpty }
        return !file.name.isEmpty && file.name != "." && file.name != ".." && file.name.utf8.count <= 200
          && !file.name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
      }
  }

  func encoded() throws -> Data {
    let encoder = JSONEncoder()
    // In base64 there may be as many slashes as letters.
    encoder.outputFormatting = .withoutEscapingSlashes
    return try encoder.encode(self)
  }
}

extension MachineFiles {
  /// What is there and not in the backup.
  struct LeftOut: Encodable, Equatable {
    let path: String
    let reason: String
  }

  /// What is on this machine. What this user may not read, is too much, or is no ordinary file of this program's users is
  /// left out.
  ///
  /// - Parameter configuration: the file of the settings; nil where there is none.
  static func read(_ settings: Settings, configuration: String?, _ system: SystemPlaces) -> (
    machine: MachineFiles, paths: [String], leftOut: [LeftOut]
  ) {
    var machine = MachineFiles()
    if case .named(let host) = settings.mqtt.host { machine.broker = "\(HostAndPort(host, settings.mqtt.port))" }
    var reader = MachineReader(settings)
    if let configuration {
      reader.take(configuration, .settings)
      if configuration == system.configuration {
        reader.takeAll(in: FilePath.directory(of: configuration), .besideSettings, but: configuration)
        reader.takeAll(in: system.agentDirectory, .agents)
        reader.takeAll(in: system.agentState, .agentState)
        var status = stat()
        machine.units = unitNames.filter { lstat("\(system.enabledUnits)/\($0).service", &status) == 0 }
      }
    }
    reader.take(settings.http.tokenFile(besideStore: settings.store.path), .pageToken)
    machine.files = reader.files
    return (machine, reader.paths, reader.leftOut)
  }
}

/// Reads files for a backup: ordinary ones of known users, through no link, and not more than there is room for.
private struct MachineReader {
  private(set) var files: [MachineFiles.File] = []
  private(set) var paths: [String] = []
  private(set) var leftOut: [MachineFiles.LeftOut] = []
  private var room = MachineFiles.mostBytes
  private var owners: [uid_t: MachineFiles.Owner] = [:]
  private var groups: [gid_t: MachineFiles.Owner] = [:]

  init(_ settings: Settings) {
    (owners[geteuid()], groups[getegid()]) = (.daemon, .daemon)
    var status = stat()
    if stat(settings.store.path, &status) == 0 { (owners[status.st_uid], groups[status.st_gid]) = (.daemon, .daemon) }
    if let user = SystemAccount.user(StoreOwner.agents) { owners[user] = .agent }
    if let group = SystemAccount.group(StoreOwner.agents) { groups[group] = .agent }
    (owners[0], groups[0]) = (.root, .root)
  }

  mutating func take(_ path: String, _ place: MachineFiles.Place) {
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    within(FilePath.directory(of: path)) { $0.take(name, of: path, in: $1, place) }
  }

  mutating func takeAll(in directory: String, _ place: MachineFiles.Place, but other: String? = nil) {
    within(directory) { reader, descriptor in
      let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
      for name in names.sorted() where "\(directory)/\(name)" != other {
        reader.take(name, of: "\(directory)/\(name)", in: descriptor, place)
      }
    }
  }

  private mutating func within(_ directory: String, _ body: (inout Self, Int32) -> Void) {
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return leave(directory, errno) }
    defer { close(descriptor) }
    body(&self, descriptor)
  }

  private mutating func take(_ name: String, of path: String, in directory: Int32, _ place: MachineFiles.Place) {
    let descriptor = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return leave(path, errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return leave(path, errno) }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
      return leave(path, "it is no ordinary file with one name")
    }
    guard let owner = owners[status.st_uid] else { return leave(path, "it belongs to user \(status.st_uid)") }
    guard files.count < MachineFiles.mostFiles, let read = try? StandardInput.read(descriptor, named: path, limit: room)
    else { return leave(path, "there are too many files, or it is too large or cannot be read") }
    room -= read.count
    files.append(
      .init(
        place: place, name: place.isOneFile ? "" : name, owner: owner, group: groups[status.st_gid],
        mode: UInt32(status.st_mode) & 0o777, contents: Data(read)))
    paths.append(path)
  }

  private mutating func leave(_ path: String, _ code: Int32) {
    switch code {
    case ENOENT: return
    case ELOOP, ENOTDIR: leave(path, "it is a link")
    case EACCES, EPERM: leave(path, "only root can read it")
    default: leave(path, String(cString: strerror(code)))
    }
  }

  private mutating func leave(_ path: String, _ reason: String) { leftOut.append(.init(path: path, reason: reason)) }
}
