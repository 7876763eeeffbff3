@B1 @B15
Feature: Tool Registration

  Scenario: All execution tools are registered
    Given the OpenCode application initializes
    When I call register_execution_tools(registry)
    Then the registry should contain "Bash" tool
    And the registry should contain "BashOutput" tool
    And the registry should contain "KillShell" tool
    And all tools should have category=EXECUTION

  Scenario: Execution tools generate valid schemas
    Given all execution tools are registered
    When I call get_all_schemas("openai")
    Then each tool should have a valid OpenAI function schema
    And BashTool schema should include command as required
    And BashOutputTool schema should include bash_id as required
    And KillShellTool schema should include shell_id as required
