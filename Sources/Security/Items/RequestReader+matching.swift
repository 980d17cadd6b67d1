// SPDX-License-Identifier: Apache-2.0

extension RequestReader {
  mutating func readMatching(_ key: String, _ value: Any) throws(KeychainError) {
    if key == kSecMatchLimit {
      request.limit = try ValueReader.limit(value)
      return
    }
    request.namesMatching = true
    switch key {
    case kSecMatchCaseInsensitive:
      request.ignoresCase = try ValueReader.truth(value, of: key)
    case kSecMatchHostOrSubdomainOfHost:
      guard let host = ValueReader.text(value) else { throw ValueReader.unfit(key) }
      request.host = host
    case kSecMatchItemList:
      break  // Read first, because its entries may say the class.
    case kSecMatchDiacriticInsensitive, kSecMatchWidthInsensitive, kSecMatchTrustedOnly:
      if try ValueReader.truth(value, of: key) { throw Self.unsupported(key) }
    case kSecMatchPolicy, kSecMatchIssuers, kSecMatchEmailAddressIfPresent,
      kSecMatchSubjectContains, kSecMatchSubjectStartsWith, kSecMatchSubjectEndsWith,
      kSecMatchSubjectWholeString, kSecMatchValidOnDate:
      throw Self.unsupported(key)
    case kSecMatchSearchList:
      break  // There is but one keychain.
    default:
      throw KeychainError(.param, "\"\(key)\" is no key of Keychain Services")
    }
  }

  /// A condition that is not looked at would find too much.
  static func unsupported(_ key: String) -> KeychainError {
    KeychainError(.unimplemented, "\"\(key)\" is not supported")
  }
}
