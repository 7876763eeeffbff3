@B1 @B11
Feature: BashOutput Tool

  Scenario: Get output from running shell
    Given a background shell running "while true; do echo tick; sleep 1; done"
    When I execute BashOutputTool with bash_id="{shell_id}"
    Then the result should be successful
    And the output should contain "tick"
    And metadata should contain status="running"
    And metadata should contain is_running=true

  Scenario: Get output from completed shell
    Given a background shell that ran "echo hello" and completed
    When I execute BashOutputTool with bash_id="{shell_id}"
    Then the result should be successful
    And the output should contain "hello"
    And metadata should contain status="completed"
    And metadata should contain exit_code=0
    And metadata should contain is_running=false

  Scenario: Get only new output since last read
    Given a background shell producing continuous output
    When I execute BashOutputTool with bash_id="{shell_id}"
    And I note the output
    And I execute BashOutputTool again with bash_id="{shell_id}"
    Then the second result should only contain NEW output
    And the second result should NOT contain output from first read

  Scenario: Shell not found
    Given no shell exists with id "shell_nonexistent"
    When I execute BashOutputTool with bash_id="shell_nonexistent"
    Then the result should be failed
    And the error should contain "not found"

  Scenario: Filter output with regex
    Given a background shell that produced output with "error" and "info" lines
    When I execute BashOutputTool with:
      | bash_id | {shell_id} |
      | filter  | error      |
    Then the result should be successful
    And the output should contain "error" lines
    And the output should NOT contain "info" lines

  Scenario: Invalid filter regex
    Given a background shell
    When I execute BashOutputTool with:
      | bash_id | {shell_id}         |
      | filter  | [invalid(regex     |
    Then the result should be failed
    And the error should contain "Invalid filter regex"

  Scenario: Get output with duration info
    Given a background shell that completed
    When I execute BashOutputTool with bash_id="{shell_id}"
    Then the output should contain "Duration:"
    And metadata should contain exit_code
