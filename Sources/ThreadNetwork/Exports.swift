// SPDX-License-Identifier: Apache-2.0

/// `import ThreadNetwork` brings Foundation, as it does on Apple's systems: files with `Data`, `Date` and `NSError`
/// need no other import.
@_exported import Foundation
