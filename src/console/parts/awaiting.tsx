import { useEffect, useState } from 'preact/hooks';
import type { CommandCard } from '../../contract/console.ts';
import { agentOf } from '../store.ts';
import { toAgentName, toTitle } from '../words.ts';
import { toShownText } from '../worker/visible-text.ts';
import { InputField } from './input-field.tsx';

/** A command that waits for input, with the end of its output and an input field. */
export function Awaiting({ card }: { readonly card: CommandCard }) {
  const agent = agentOf(card.agent);
  const prompt = usePrompt(card);
  return (
    <article class="card ask awaiting" aria-labelledby={`waits-${card.id}`}>
      <header>
        <span class="tag wait">Needs you</span>
        <a class="left" href={`/commands/${card.id}`}>
          Output
        </a>
      </header>
      <h2 id={`waits-${card.id}`} class="ask-who">
        {agent ? toAgentName(agent) : card.agent}: <code>{toTitle(card.command)}</code> waits for input
      </h2>
      {prompt !== '' && (
        <pre class="asked">
          <code>{prompt}</code>
        </pre>
      )}
      <InputField card={card} prompt={prompt} label="Answer" />
    </article>
  );
}

const promptBytes = 400;

/** The last line that a command printed, which is usually its question. */
export function usePrompt({ id, stdout_bytes, stderr_bytes }: CommandCard): string {
  const [prompt, setPrompt] = useState('');
  const end = stdout_bytes + stderr_bytes;
  useEffect(() => {
    let isCurrent = true;
    const address = `/api/commands/${id}/output?from=${Math.max(0, end - promptBytes)}&to=${end}`;
    void fetch(address)
      .then(async (reply) => (reply.ok ? reply.text() : ''))
      .catch(() => '')
      .then((text) => {
        const lines = text.split('\n').map(toShownText);
        if (isCurrent) setPrompt(lines.findLast((line) => line.trim() !== '') ?? '');
      });
    return () => {
      isCurrent = false;
    };
  }, [id, end]);
  return prompt;
}
