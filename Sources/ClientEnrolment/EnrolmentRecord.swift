// SPDX-License-Identifier: Apache-2.0

import Broker
import FoundationEssentials
import KeychainCore
import SodiumCrypto

/// What an enrolment's item holds. The keys are public; that nobody can change them is why they are here.
struct EnrolmentRecord: Codable {
  /// 2 of a revoked one, which a program that knows only enrolments must not take for one.
  var v = 1
  var line: String
  var trust: EnrolledClient.Trust
  var enrolledAt: Int64
  var enrolledBy: String

  enum CodingKeys: String, CodingKey {
    case v, line, trust
    case enrolledAt = "enrolled_at"
    case enrolledBy = "enrolled_by"
  }

  init(_ client: EnrolledClient) {
    line = client.keys.line
    trust = client.trust
    enrolledAt = client.enrolledAt
    enrolledBy = client.enrolledBy
    v = client.isRevoked ? Self.revoked : 1
  }

  private static let revoked = 2

  /// - Throws: `decode` for what this version does not write.
  init(_ secret: SecretBytes) throws(KeychainError) {
    let bytes = secret.withUnsafeBytes { Data($0) }
    guard let record = try? JSONDecoder().decode(Self.self, from: bytes),
      (1...Self.revoked).contains(record.v)
    else {
      throw KeychainError(.decode, "an enrolment is damaged, or of another version")
    }
    self = record
  }

  var secret: SecretBytes {
    get throws(KeychainError) {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      guard let bytes = try? encoder.encode(self) else {
        throw KeychainError(.internalError, "an enrolment cannot be written down")
      }
      return SecretBytes(copying: bytes)
    }
  }

  func client(of user: String, in home: String, label: String) throws(KeychainError)
    -> EnrolledClient
  {
    do throws(EnrolmentLineError) {
      var client = EnrolledClient(
        home: home, user: user, keys: try PublicIdentity(line: line), trust: trust, label: label,
        enrolledAt: enrolledAt, enrolledBy: enrolledBy)
      client.isRevoked = v == Self.revoked
      return client
    } catch {
      throw KeychainError(.decode, "the enrolment of \(user) is damaged: \(error.message)")
    }
  }
}
