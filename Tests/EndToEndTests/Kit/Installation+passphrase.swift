// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Installation {
  /// A file of the owner's with a passphrase in it, for `--passphrase-file`.
  func passphraseFile(_ text: String = "correct horse battery staple") throws -> String {
    Recorder.current?.note("a passphrase", text)
    let path = directory.file("passphrase-\(UInt64.random(in: 0 ... .max))")
    try Data("\(text)\n".utf8).write(to: URL(fileURLWithPath: path))
    chmod(path, 0o600)
    return path
  }
}
