import { type Driver, drivers } from './drivers.ts';
import { type ModelServer, startModel } from './model/model-server.ts';
import { createPlace, initClient, type Place } from './place.ts';
import { type RunningClient, startClient } from './run-client.ts';
import { type Script, type ScriptedCall, scriptCalls } from './scripted.ts';

/** A place in which a client is configured, with a model that makes scripted calls. */
export interface Stage {
  readonly driver: Driver;
  readonly place: Place;
  readonly script: Script;
  readonly model: ModelServer;
}

/** Configures a client for a model that makes these calls, and adds nacre with `nacre init`. */
export async function setStage(name: string, calls: readonly ScriptedCall[]): Promise<Stage> {
  const driver = drivers[name];
  if (driver === undefined) throw new Error(`${name} has no driver.`);
  const script = scriptCalls(calls);
  const model = await startModel(script.next);
  const place = createPlace(model.url);
  driver.configure(place);
  initClient(place, name);
  return { driver, place, script, model };
}

/** Starts a client without a terminal on its stage. */
export function startOn(name: string, { driver, place }: Stage): RunningClient {
  return startClient(name, place, driver.headless(place));
}

/** Runs a client without a terminal until the scripted model has made these calls. */
export async function runCalls(name: string, calls: readonly ScriptedCall[]): Promise<Stage> {
  const stage = await setStage(name, calls);
  const { script, model } = stage;
  try {
    const client = startOn(name, stage);
    const ended = await client.ended;
    if (script.results.length < calls.length)
      throw new Error(
        `${name} ended with ${ended} after ${script.results.length} results: ${client.output()} ${model.paths.join(', ')}`,
      );
    return stage;
  } finally {
    await model.close();
  }
}

/** Waits until a condition holds; fails with the message of `describe` after `limitMs`. */
export async function until(isTrue: () => boolean, describe: () => string, limitMs = 110_000): Promise<void> {
  for (const end = Date.now() + limitMs; !isTrue(); await pause(50))
    if (Date.now() > end) throw new Error(describe());
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
