// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The domain of `LAError`.
public let LAErrorDomain = "com.apple.LocalAuthentication"

/// Why a person was not asked, or did not agree (LAError.h).
public struct LAError: CustomNSError, LocalizedError, Hashable, Sendable {
  /// The numbers of LAError.h. Answered are `userCancel`, `biometryNotAvailable`, `invalidContext`, `notInteractive`.
  public enum Code: Int, Sendable {
    /// Somebody could not be recognized.
    case authenticationFailed = -1
    /// The person refuses.
    case userCancel = -2
    /// The person wants another way.
    case userFallback = -3
    /// The system has ended the question.
    case systemCancel = -4
    /// There is no passcode.
    case passcodeNotSet = -5
    /// There is no sensor.
    case biometryNotAvailable = -6
    /// Nobody is known to the sensor.
    case biometryNotEnrolled = -7
    /// The sensor is locked.
    case biometryLockout = -8
    /// The program has ended the question.
    case appCancel = -9
    /// The context was invalidated.
    case invalidContext = -10
    /// Nobody can be asked.
    case notInteractive = -1004

    /// For `catch LAError.userCancel`.
    public static func ~= (code: Self, error: any Error) -> Bool {
      (error as? LAError)?.code == code
    }
  }

  /// What is wrong.
  public let code: Code

  /// Makes an error.
  public init(_ code: Code) { self.code = code }

  /// `LAErrorDomain`.
  public static var errorDomain: String { LAErrorDomain }
  /// The number.
  public var errorCode: Int { code.rawValue }

  /// What is wrong, in words.
  public var errorDescription: String? {
    switch code {
    case .userCancel: "The person who was asked refused."
    case .biometryNotAvailable: "There is no sensor for fingers or faces."
    case .invalidContext: "The context was invalidated."
    case .notInteractive: "Nobody can be asked."
    default: "Authentication failed (\(code.rawValue))."
    }
  }

  /// The words, for `NSError`.
  public var errorUserInfo: [String: Any] {
    [NSLocalizedDescriptionKey: errorDescription ?? ""]
  }

  /// See `Code`.
  public static let authenticationFailed = Code.authenticationFailed
  /// See `Code`.
  public static let userCancel = Code.userCancel
  /// See `Code`.
  public static let userFallback = Code.userFallback
  /// See `Code`.
  public static let systemCancel = Code.systemCancel
  /// See `Code`.
  public static let passcodeNotSet = Code.passcodeNotSet
  /// See `Code`.
  public static let biometryNotAvailable = Code.biometryNotAvailable
  /// See `Code`.
  public static let biometryNotEnrolled = Code.biometryNotEnrolled
  /// See `Code`.
  public static let biometryLockout = Code.biometryLockout
  /// See `Code`.
  public static let appCancel = Code.appCancel
  /// See `Code`.
  public static let invalidContext = Code.invalidContext
  /// See `Code`.
  public static let notInteractive = Code.notInteractive
}
