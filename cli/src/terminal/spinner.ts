import { isTerminal } from './terminal.js';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;
const ERASE_LINE = '\r\u001b[K';

/** Shows a line with a moving sign on standard error until it is stopped. Does nothing without a terminal. */
export function startSpinner(text: () => string): () => void {
  const { stderr } = process;
  if (!isTerminal(stderr) || process.env.TERM === 'dumb') return () => undefined;
  let frame = 0;
  const draw = (): void => {
    stderr.write(`${ERASE_LINE}${FRAMES[frame++ % FRAMES.length]} ${text()}`);
  };
  draw();
  const timer = setInterval(draw, FRAME_MS);
  return () => {
    clearInterval(timer);
    stderr.write(ERASE_LINE);
  };
}

/** Formats seconds as `9:05`. */
export function minutesAndSeconds(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
