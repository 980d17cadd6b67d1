// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// What an import names one by one.
package struct ImportList: Equatable, Sendable {
  /// What is named.
  package enum Line: Equatable, Sendable {
    case conflict(ImportConflict)
    /// It stays out.
    case stayedOut(Access)
    /// It comes in, and decides who may have credentials.
    case takenOver(Access)
  }

  package struct Access: Codable, Equatable, Sendable {
    package let what: ImportedAccess
    /// What a person knows it by.
    package let name: String
  }

  package var lines: [Line]
  /// Lines that were not understood: a daemon of another version may name other things.
  package var unread: Int

  package init(lines: [Line] = [], unread: Int = 0) {
    self.lines = lines
    self.unread = unread
  }

  package mutating func append(_ other: ImportList) {
    lines += other.lines
    unread += other.unread
  }
}

/// The lines. It fails for none of them: what the import has done is done.
extension ImportList: Codable {
  private struct Known: Decodable {
    let line: Line?

    init(from decoder: any Decoder) { line = try? Line(from: decoder) }
  }

  package init(from decoder: any Decoder) throws {
    let known = try [Known](from: decoder)
    lines = known.compactMap(\.line)
    unread = known.count - lines.count
  }

  package func encode(to encoder: any Encoder) throws { try lines.encode(to: encoder) }
}

/// An object with the one member that says what it is.
extension ImportList.Line: Codable {
  private enum CodingKeys: String, CodingKey {
    case conflict
    case stayedOut = "leftOut"
    case takenOver
  }

  /// - Throws: for what is none of them.
  package init(from decoder: any Decoder) throws {
    let line = try decoder.container(keyedBy: CodingKeys.self)
    if let conflict = try line.decodeIfPresent(ImportConflict.self, forKey: .conflict) {
      self = .conflict(conflict)
    } else if let item = try line.decodeIfPresent(ImportList.Access.self, forKey: .stayedOut) {
      self = .stayedOut(item)
    } else {
      self = .takenOver(try line.decode(ImportList.Access.self, forKey: .takenOver))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var line = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .conflict(let conflict): try line.encode(conflict, forKey: .conflict)
    case .stayedOut(let item): try line.encode(item, forKey: .stayedOut)
    case .takenOver(let item): try line.encode(item, forKey: .takenOver)
    }
  }
}

extension ImportList.Line {
  package var conflict: ImportConflict? {
    if case .conflict(let conflict) = self { conflict } else { nil }
  }
  package var stayedOut: ImportList.Access? {
    if case .stayedOut(let item) = self { item } else { nil }
  }
  package var takenOver: ImportList.Access? {
    if case .takenOver(let item) = self { item } else { nil }
  }

  /// Bytes of its texts.
  var length: Int {
    let texts =
      switch self {
      case .conflict(let conflict): [conflict.item] + conflict.differs + conflict.removes
      case .stayedOut(let item), .takenOver(let item): [item.name]
      }
    return texts.reduce(64) { $0 + $1.utf8.count + 4 }
  }
}
