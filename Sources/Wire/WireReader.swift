// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperSupport

/// A message that is read: it holds its values.
package protocol WireMessage: WireObject {
  /// Without any value.
  init()
}

/// Why bytes are not a message, and where.
package struct WireProblem: Error, Hashable {
  package enum Reason: Hashable, Sendable {
    case json(JSONFlaw.Reason)
    case notAnObject
    /// The field is not there.
    case missing
    /// The field is of another type, or its form does not allow the value.
    case badValue
  }

  package let reason: Reason
  package let field: String?
  /// Bytes from the start of the message; nil where something is missing.
  package let offset: Int?
}

/// Gives the fields of a message their values, from JSON of somebody who is not trusted. Fields that the message does
/// not declare are ignored. Of several with one name, one is taken.
package struct WireReader: WireCoder {
  private let members: [JSONMember]
  private let start: UnsafePointer<UInt8>?
  /// Where the next field is, if the sender keeps our order.
  private var next = 0
  package private(set) var problem: WireProblem?

  /// - Parameter members: of `bytes`, which live as long as the reader.
  init(_ members: [JSONMember], of bytes: UnsafeBufferPointer<UInt8>) {
    self.members = members
    start = bytes.baseAddress
  }

  package mutating func field<Value: WireReadable>(
    _ name: StaticString, _ value: inout Value?, _ form: WireForm?
  ) {
    if let member = find(name) { take(member, name, &value, form) }
  }

  package mutating func needed<Value: WireReadable>(
    _ name: StaticString, _ value: inout Value, _ form: WireForm?
  ) {
    guard let member = find(name) else {
      return note(WireProblem(reason: .missing, field: "\(name)", offset: nil))
    }
    var read: Value?
    take(member, name, &read, form)
    if let read { value = read }
  }

  // A view is never read: it is no `WireMessage`.
  package func field<Value: WireValue>(_: StaticString, _: Value?, _: WireForm?) {}
  package func needed<Value: WireValue>(_: StaticString, _: Value, _: WireForm?) {}

  /// The member of that name, unless it is `null`.
  private mutating func find(_ name: StaticString) -> JSONMember? {
    for step in members.indices {
      var index = next + step
      if index >= members.count { index -= members.count }
      guard name ~= members[index].name else { continue }
      next = index + 1
      if case .null = members[index].value { return nil }
      return members[index]
    }
    return nil
  }

  private mutating func take<Value: WireReadable>(
    _ member: JSONMember, _ name: StaticString, _ value: inout Value?, _ form: WireForm?
  ) {
    value = Value.read(member, form?.over(Value.form) ?? Value.form)
    guard value == nil else { return }
    let offset = start.flatMap { start in member.source.baseAddress.map { $0 - start } }
    note(WireProblem(reason: .badValue, field: "\(name)", offset: offset))
  }

  /// The first one counts.
  private mutating func note(_ problem: WireProblem) {
    if self.problem == nil { self.problem = problem }
  }
}

extension WireMessage {
  /// - Parameters:
  ///   - bytes: the caller limits their number.
  ///   - depth: the most objects and arrays within each other.
  package init(reading bytes: [UInt8], depth: Int) throws(WireProblem) {
    self.init()
    // The members point into the same bytes.
    let problem = bytes.withUnsafeBufferPointer { buffer -> WireProblem? in
      var members: [JSONMember] = []
      members.reserveCapacity(24)
      do throws(JSONFlaw) {
        let isObject = try UntrustedJSON.readMembers(
          of: bytes, depth: depth, skipsByteOrderMark: true
        ) { members.append($0) }
        guard isObject else { return WireProblem(reason: .notAnObject, field: nil, offset: 0) }
      } catch {
        return WireProblem(reason: .json(error.reason), field: nil, offset: error.offset)
      }
      var reader = WireReader(members, of: buffer)
      fields(&reader)
      return reader.problem
    }
    if let problem { throw problem }
  }
}
