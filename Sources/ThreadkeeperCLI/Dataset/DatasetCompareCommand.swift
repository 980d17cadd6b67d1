// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadDataset

/// `threadkeeper dataset compare A B`
struct DatasetCompareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Say what dataset A is to dataset B.",
    discussion: """
      match      the same network, and nothing essential differs
      newer      the same network, A has the later Active Timestamp
      older      the same network, A has the earlier Active Timestamp
      conflict   the same network and Active Timestamp, but what is named differs
      mismatch   another network: the Extended PAN ID differs, and what else is named

      Order, Channel Mask, Wake-up Channel and unknown TLVs make no difference.

      Example:
        ssh router ot-ctl dataset active -x | head -n 1 \\
          | threadkeeper dataset compare - @home.dataset

      Other users of the machine can read a dataset that stands on the command line. Prefer files, \
      and "-" for one of the two.

      Exit status: 0 for match, 1 for anything else, 65 for a dataset that is not sound.
      """)

  @Argument(help: "The dataset in question in hexadecimal digits, @FILE, or - for standard input.")
  var a: DatasetArgument

  @Argument(help: "The dataset to compare it with, @FILE, or - for standard input.")
  var b: DatasetArgument

  @Flag(help: "Accept datasets in which something is missing.")
  var partial = false

  @OptionGroup
  var output: OutputOptions

  func validate() throws {
    if a.isStandardInput && b.isStandardInput {
      throw ValidationError("Only one of the two datasets can be read from standard input.")
    }
  }

  func run() async throws {
    let report = try DatasetRelationReport(of: read(a, name: "A"), to: read(b, name: "B"))
    try output.show(report, text: report.line)
    if !report.isMatch { throw ExitCode(1) }
  }

  private func read(_ argument: DatasetArgument, name: String) throws -> OperationalDataset {
    do {
      return try argument.read(allowPartial: partial)
    } catch let error as DatasetError {
      throw try DatasetErrorReport(error, argument: name).failure(output, hasPartial: true)
    }
  }
}
