import { describe, expect, it } from 'vitest';
import { createTestEngine } from '../../tests/support/engine.ts';
import { createMetrics } from './metrics.ts';

describe('S7: metrics about commands', () => {
  it('are counted by outcome, program, rule and stream', async () => {
    const here = createTestEngine();
    await here.run('echo hello');
    await here.run('ls -d / >&2; exit 3');
    const only = {
      rules: { allow: { kind: 'names', names: ['ls'] }, allowSetting: 'X', danger: 'block' },
    } as const;
    await here.run('touch x', {}, only).catch(() => {});
    await here.run('true', { cwd: '/no/such' }).catch(() => {});
    const id = await here.start('sleep 30');
    const text = await here.engine.metrics();
    for (const line of [
      'nacre_commands_total{outcome="completed",program="echo",door="cli"} 1',
      'nacre_commands_total{outcome="failed",program="ls",door="cli"} 1',
      'nacre_commands_total{outcome="refused",program="touch",door="cli"} 1',
      'nacre_commands_total{outcome="failed",program="none",door="cli"} 1',
      'nacre_refusals_total{rule="not_listed"} 1',
      'nacre_output_bytes_total{stream="stdout"} 6',
      'nacre_output_bytes_total{stream="stderr"} 2',
      'nacre_command_duration_seconds_bucket{le="+Inf"} 2',
      'nacre_command_duration_seconds_count 2',
      'nacre_running 1',
      'nacre_queue 0',
      'nacre_spool_bytes 0',
      'nacre_shell_restarts_total 0',
    ])
      expect(text.split('\n')).toContain(line);
    expect(text.match(/^# TYPE /gm)).toHaveLength(10);
    expect(id).toMatch(/^cmd_/);
    await here.close();
  });

  it('S7: bytes read and written by the process tree are reported while it runs and in its outcome', async () => {
    const here = createTestEngine();
    const id = await here.start('dd if=/dev/zero of=/dev/null bs=100000 count=50 2>/dev/null; sleep 1');
    const context = { caller: { door: 'cli', client: 'test' }, owner: 'tester' } as const;
    const resources = async () => (await here.engine.list(context))[0]?.state.resources;
    await expect
      .poll(async () => (await resources())?.readBytes, { timeout: 10_000 })
      .toBeGreaterThan(5_000_000);
    expect((await resources())?.writtenBytes).toBeGreaterThan(5_000_000);
    expect(id).toMatch(/^cmd_/);
    await here.close();
  });

  it('have a bounded number of lines even if agents invent program names', () => {
    const metrics = createMetrics();
    const base = { seq: 0, time: '', door: 'mcp', client: 'x' };
    for (let index = 0; index < 300; index += 1) {
      const id = `cmd_${index}`;
      metrics.observe({ ...base, kind: 'decided', id, programs: [`p${index}"\n`], rule: 'r' });
      metrics.observe({ ...base, kind: 'started', id });
      metrics.observe({
        ...base,
        kind: 'finished',
        id,
        status: 'completed',
        duration_ms: 2_000,
        stdout_bytes: 1,
        stderr_bytes: 0,
        shell_restored: true,
        resources: { cpuMs: 20, peakMemoryBytes: 1_000 + index },
      });
    }
    const text = metrics.toText({ queue: 2, spoolBytes: 7 });
    expect(text).toContain('nacre_commands_total{outcome="completed",program="p0\\"\\n",door="mcp"} 1\n');
    expect(text).toContain('nacre_commands_total{outcome="completed",program="other",door="mcp"} 200\n');
    expect(text).toContain('nacre_command_duration_seconds_bucket{le="1"} 0\n');
    expect(text).toContain('nacre_command_duration_seconds_bucket{le="5"} 300\n');
    expect(text).toContain('nacre_shell_restarts_total 300\n');
    expect(text).toContain('nacre_queue 2\n');
    expect(text).toContain('nacre_command_cpu_seconds_total 6\n');
    expect(text).toContain('nacre_command_peak_memory_bytes 1299\n');
  });
});
