@B1 @B3 @B11 @B12
Feature: Integration Tests

  Scenario: Full background command workflow
    Given an execution context
    When I execute BashTool with run_in_background=true
    And I note the returned bash_id
    And I execute BashOutputTool to check progress
    And I wait for completion
    And I execute BashOutputTool to get final output
    Then all steps should succeed
    And the final output should contain command results

  Scenario: Kill and verify workflow
    Given a background shell running a long command
    When I verify shell is running via BashOutputTool
    And I execute KillShellTool to terminate
    And I verify shell is stopped via BashOutputTool
    Then the shell should transition from running to killed

  Scenario: Multiple concurrent shells
    Given an execution context
    When I start 5 background shells concurrently
    Then all shells should have unique IDs
    And all shells should be tracked by ShellManager
    And I should be able to get output from each independently

  Scenario: Timeout does not affect other shells
    Given shell A running normally
    And shell B that will timeout
    When shell B times out
    Then shell A should continue running
    And shell A output should be unaffected
