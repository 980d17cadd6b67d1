// SPDX-License-Identifier: Apache-2.0

/// What the numbers mean, in words.
enum ErrorMessages {
  /// Numbers that Keychain Services answer without a public name.
  private static let unnamed: [OSStatus: String] = [
    -26276: "There is a defect in the software."
  ]

  private static let groups = [
    keychain, device, mobileMe, modules, keys, requests, timestamps, unnamed,
  ]

  static func message(of status: OSStatus) -> String? {
    groups.lazy.compactMap { $0[status] }.first
  }
}
