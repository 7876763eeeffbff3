@B1 @B3
Feature: Bash Tool - Background Execution

  Scenario: Start background command
    Given an execution context
    When I execute BashTool with:
      | command           | sleep 5 && echo done |
      | run_in_background | true                 |
    Then the result should be successful
    And the output should contain "Started background shell"
    And the output should contain a bash_id
    And metadata should contain bash_id matching "shell_*"

  Scenario: Background command returns immediately
    Given an execution context
    When I execute BashTool with:
      | command           | sleep 60             |
      | run_in_background | true                 |
    Then the execution should complete in less than 1 second
    And a background shell should be running
