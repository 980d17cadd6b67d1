import Testing

@testable import Threadkeeper

@Suite("What doctor prints") struct DoctorReportTests {
  private let report = DoctorReport([
    Check(.store, "backup").warning("No backup is noted", "Run `threadkeeper store backup FILE`"),
    Check(.broker, "broker").problem("It is not there", "Start it", .unavailable),
    Check(.settings, "settings").ok("They can be used"),
    Check(.access, "anonymous").problem("Anybody reads \u{1B}[2J", "Deny it"),
    Check(.access, "other_login").notChecked("Nobody was named"),
  ])

  @Test("By part, with the remedies, and the problems at the end") func text() {
    #expect(
      report.text(style: .plain) == """
        Settings
          ok           They can be used.
        Access at the broker
          not checked  Nobody was named.
        Store
          warning      No backup is noted.
                       help: Run `threadkeeper store backup FILE`.
        Problems
          problem      It is not there.
                       help: Start it.
          problem      Anybody reads \\u{1b}[2J.
                       help: Deny it.

        2 problems, 1 warning, 1 not checked; 1 well.

        """)
  }

  @Test("A terminal that can do it gets colours") func terminal() {
    let text = report.text(style: TerminalStyle(isOn: true))
    #expect(text.contains("\u{1B}[1;31mproblem\u{1B}[0m"))
  }

  @Test("It ends like its first problem; without one it is healthy") func status() throws {
    #expect(!report.healthy && report.status == .unavailable)
    let well = DoctorReport([Check(.settings, "settings").ok("They can be used")])
    #expect(well.healthy && well.status == nil)
    #expect(well.text(style: .plain).hasSuffix("The only check is well.\n"))
    let both = DoctorReport([Check(.settings, "a").ok("A"), Check(.store, "b").ok("B")])
    #expect(both.text(style: .plain).hasSuffix("All 2 checks are well.\n"))
    #expect(report.counts == [.ok: 1, .note: 0, .warning: 1, .problem: 2, .notChecked: 1])
    #expect(try JSONText.pretty(report).contains("\"result\" : \"not_checked\""))
  }
}
