import Foundation

/// The domain of `LAError`.
public let LAErrorDomain = "com.apple.LocalAuthentication"

/// Why a person was not asked, or did not agree, with the numbers of LAError.h. Answered are `userCancel`,
/// `biometryNotAvailable`, `invalidContext` and `notInteractive`.
public enum LAError: Int, CustomNSError, LocalizedError, Sendable {
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

  /// Apple's error is made of its code; here both are one.
  public typealias Code = LAError
  /// The error itself, for programs that compare codes.
  public var code: Code { self }
  /// The code itself, for programs that make errors of codes.
  public init(_ code: Code) { self = code }

  /// `LAErrorDomain`.
  public static var errorDomain: String { LAErrorDomain }

  /// What is wrong, in words.
  public var errorDescription: String? {
    switch self {
    case .userCancel: "The person who was asked refused."
    case .biometryNotAvailable: "There is no sensor for fingers or faces."
    case .invalidContext: "The context was invalidated."
    case .notInteractive: "Nobody can be asked."
    default: "Authentication failed (\(rawValue))."
    }
  }

  /// The words, for `NSError`.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: errorDescription ?? ""] }
}
