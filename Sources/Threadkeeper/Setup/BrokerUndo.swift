import FoundationEssentials
import Glibc
import ThreadkeeperSupport

/// What setup has changed in the broker's files, to put it back.
struct BrokerUndo: Codable, Equatable {
  struct Entry: Codable, Equatable {
    let path: String
    /// What was there before; nil for a file that setup made.
    var copy: String?
    /// What setup has written.
    var written: String
  }

  var entries: [Entry] = []

  /// Notes a file that is to be written, and copies what is there, unless that is setup's own work.
  ///
  /// - Returns: the copy, where one was made.
  mutating func note(_ file: BrokerFile, at now: Date) throws(CommandFailure) -> String? {
    let former = entries.firstIndex { $0.path == file.path }
    if let former, entries[former].written == file.before {
      entries[former].written = file.after
      return nil
    }
    var copy: String?
    if let before = file.before {
      var status = stat()
      guard stat(file.path, &status) == 0 else {
        throw CommandFailure(.inputOutput, "\(file.path): \(String(cString: strerror(errno)))")
      }
      let name = WholeFile.copyName(of: file.path, now)
      try WholeFile.write(
        before, to: name, new: .init(owner: status.st_uid, group: status.st_gid, mode: status.st_mode & 0o777)
      ) {}
      copy = name
    }
    if let former { entries.remove(at: former) }
    entries.append(Entry(path: file.path, copy: copy, written: file.after))
    return copy
  }

  // MARK: Where it is kept

  /// A file beside the broker's configuration, for its owner alone.
  struct Place {
    let path: String

    init(directory: String) { path = "\(directory)/threadkeeper.undo" }

    /// - Throws: `CommandFailure` with status 77 for a file that somebody else could have written, 65 for another one.
    func load() throws(CommandFailure) -> BrokerUndo {
      var status = stat()
      guard lstat(path, &status) == 0 else { return BrokerUndo() }
      guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
        throw CommandFailure(
          .notPermitted, "\(path) is not this user's own", remedy: "run it as the user who ran setup")
      }
      guard let text = WholeFile.read(path),
        let undo = try? JSONDecoder().decode(BrokerUndo.self, from: Data(text.utf8))
      else { throw CommandFailure(.badInput, "\(path) is damaged", remedy: "remove it; copies are beside the files") }
      return undo
    }

    func save(_ undo: BrokerUndo) throws(CommandFailure) {
      guard !undo.entries.isEmpty else {
        unlink(path)
        return
      }
      guard let data = try? JSONEncoder().encode(undo) else { throw CommandFailure(.software, "no record can be made") }
      try WholeFile.write(String(decoding: data, as: UTF8.self) + "\n", to: path, new: .init(mode: 0o600)) {}
    }
  }

  // MARK: Putting it back

  struct Step: Encodable, Equatable {
    enum Action: String, Encodable { case restored, removed, left }

    let path: String
    let action: Action
    /// Of a file that is left: setup's lines in it, which a person removes, and those that it took away.
    var lines: [String] = []
    var copy: String?
  }

  /// What can be put back: files that are as setup wrote them. One that setup made stays, too, where one that is left
  /// names it.
  func plan() -> [Step] {
    func current(_ entry: Entry) -> String? { WholeFile.look(entry.path) }
    let left = entries.filter { current($0) != $0.written && current($0) != nil }
    return entries.reversed().compactMap { entry in
      guard let text = current(entry) else { return nil }
      let isNamed = entry.copy == nil && left.contains { current($0)?.contains(entry.path) == true }
      if text == entry.written, !isNamed {
        return Step(path: entry.path, action: entry.copy == nil ? .removed : .restored, copy: entry.copy)
      }
      let present = Set(text.split(separator: "\n").map(String.init))
      let before = entry.copy.flatMap(WholeFile.read) ?? ""
      let lines = BrokerFile.difference(before, entry.written).compactMap { line -> String? in
        let words = String(line.dropFirst())
        guard !words.isEmpty, present.contains(words) == line.hasPrefix("+") else { return nil }
        // A login's line is known by its name.
        return line.contains(":$") ? String(line.prefix { $0 != ":" }) + ":…" : line
      }
      return Step(path: entry.path, action: .left, lines: lines, copy: entry.copy)
    }
  }

  /// Does what `plan` says; the record then has the files that are left.
  func apply(_ steps: [Step], _ place: Place) throws(CommandFailure) {
    var rest = self
    for step in steps where step.action != .left {
      guard let entry = entries.first(where: { $0.path == step.path }) else { continue }
      let isSame = { () throws(CommandFailure) in
        guard WholeFile.read(entry.path) == entry.written else {
          throw CommandFailure(.temporary, "\(entry.path) was changed meanwhile", remedy: "run it again")
        }
      }
      if let copy = entry.copy {
        guard let text = WholeFile.read(copy) else {
          throw CommandFailure(.noInput, "\(copy) cannot be read: the copy that is to be put back")
        }
        try WholeFile.write(text, to: entry.path, new: .init(mode: 0o600), check: isSame)
        unlink(copy)
      } else {
        try isSame()
        unlink(entry.path)
      }
      rest.entries.removeAll { $0.path == step.path }
      try place.save(rest)
    }
    // What is gone, or has nothing of setup's in it any more, is done.
    rest.entries.removeAll { entry in !steps.contains { $0.path == entry.path && !$0.lines.isEmpty } }
    try place.save(rest)
  }
}

/// What `setup --undo` answers.
struct UndoReport: Encodable {
  let files: [BrokerUndo.Step]
  var agents: [UndoneAgent] = []
  let dryRun: Bool
  var restarted = false
  var next: [String] = []

  var text: String {
    guard !files.isEmpty || !agents.isEmpty else {
      return "Setup has changed no file of this broker: nothing to undo.\n"
    }
    var lines = agents.flatMap { agent in
      ["\(agent.unit): \(dryRun ? "would be " : "")stopped, and its files removed:"] + agent.files.map { "  \($0)" }
    }
    lines += files.flatMap { step -> [String] in
      switch step.action {
      case .restored: ["\(step.path): \(dryRun ? "would be " : "")as before setup."]
      case .removed: ["\(step.path): \(dryRun ? "would be " : "")removed."]
      case .left where step.lines.isEmpty: ["\(step.path): was changed since; nothing of setup's is in it."]
      case .left:
        ["\(step.path): was changed since, and stays. Remove these lines (+), and add those (-), yourself:"]
          + step.lines.map { "  \($0.printable)" } + (step.copy.map { ["  as it was: \($0)"] } ?? [])
      }
    }
    if !next.isEmpty { lines += ["", "Next:"] + next.map { "  \($0)" } }
    return lines.joined(separator: "\n") + "\n"
  }
}
