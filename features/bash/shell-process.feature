@B1 @B13
Feature: Shell Process

  Scenario: Get new output
    Given a ShellProcess with stdout_buffer="line1\nline2\nline3\n"
    And last_read_stdout=6 (after "line1\n")
    When I call get_new_output()
    Then the result should be "line2\nline3\n"
    And last_read_stdout should be updated to 18

  Scenario: Get new output includes stderr
    Given a ShellProcess with stdout and stderr buffers
    When I call get_new_output(include_stderr=True)
    Then the result should contain stdout content
    And the result should contain "[stderr]"
    And the result should contain stderr content

  Scenario: Shell process lifecycle
    Given a new ShellProcess
    When I observe the status through execution
    Then status should transition:
      | from     | to        | trigger                |
      | PENDING  | RUNNING   | process started        |
      | RUNNING  | COMPLETED | exit_code == 0         |
      | RUNNING  | FAILED    | exit_code != 0         |
      | RUNNING  | TIMEOUT   | wait timeout exceeded  |
      | RUNNING  | KILLED    | kill() called          |

  Scenario: Calculate duration
    Given a ShellProcess that started at t=0 and completed at t=5000
    When I access duration_ms
    Then the result should be approximately 5000
