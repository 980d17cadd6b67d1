// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadDataset

/// `threadkeeper dataset …`: looks at operational datasets, without store and broker.
struct DatasetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dataset",
    abstract: "Decode operational datasets.",
    discussion: """
      A dataset holds the secrets of a Thread network. What stands on a command line can be read \
      by other users of the machine in the list of processes, and is kept in the shell's history. \
      So give @FILE, or "-" and pass the dataset on standard input. Otherwise a warning is written to \
      standard error.
      """,
    subcommands: [DatasetDecodeCommand.self])
}

/// `threadkeeper dataset decode HEX|-`
struct DatasetDecodeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decode",
    abstract: "Check a dataset and print what is in it.",
    discussion: """
      Secrets are not printed, unless you ask for them.

      Examples:
        sudo ot-ctl dataset active -x | head -n 1 | threadkeeper dataset decode -
        curl -s -H 'Accept: text/plain' http://127.0.0.1:8081/node/dataset/active \\
          | threadkeeper dataset decode --json -

      Other users of the machine can read a dataset that stands on the command line. Prefer "-", \
      or a file.

      Exit status: 0 for a sound dataset, 65 for one that is not. With --json a bad one prints \
      {"error":{"code","tlv","tlv_type","offset","message"}}.
      """)

  @Argument(help: "The dataset in hexadecimal digits, @FILE, or - for standard input.")
  var dataset: DatasetArgument

  @Flag(help: "Print Network Key, PSKc and the values of unknown TLVs too.")
  var showSecrets = false

  @Flag(help: "Accept a dataset in which something is missing.")
  var partial = false

  @OptionGroup
  var output: OutputOptions

  func run() async throws {
    do {
      let dataset = try dataset.read(allowPartial: partial)
      try output.show(
        DatasetReport(of: dataset, showSecrets: showSecrets),
        text: Table(of: dataset, showSecrets: showSecrets).text())
    } catch let error as DatasetError {
      throw try DatasetErrorReport(error).failure(output, hasPartial: true)
    }
  }
}
