@B1 @B12
Feature: KillShell Tool

  Scenario: Kill running shell
    Given a background shell running "sleep 300"
    When I execute KillShellTool with shell_id="{shell_id}"
    Then the result should be successful
    And the output should contain "terminated"
    And the shell status should be "killed"
    And the shell should no longer be running

  Scenario: Kill already stopped shell
    Given a background shell that already completed
    When I execute KillShellTool with shell_id="{shell_id}"
    Then the result should be successful
    And the output should contain "already stopped"
    And metadata should contain already_stopped=true

  Scenario: Kill non-existent shell
    Given no shell exists with id "shell_nonexistent"
    When I execute KillShellTool with shell_id="shell_nonexistent"
    Then the result should be failed
    And the error should contain "not found"

  Scenario: Kill shell returns metadata
    Given a background shell running "sleep 300"
    When I execute KillShellTool with shell_id="{shell_id}"
    Then metadata should contain shell_id
    And metadata should contain command
    And metadata should contain duration_ms
