/** Address of a known provider. */
export interface Preset {
  readonly name: string;
  readonly baseUrl: string;
  /** Page on which the provider shows keys. */
  readonly keysUrl?: string;
}

/** Providers that the form of a new upstream offers. */
export const PRESETS: readonly Preset[] = [
  { name: 'OpenAI', baseUrl: 'https://api.openai.com/v1', keysUrl: 'https://platform.openai.com/api-keys' },
  {
    name: 'Anthropic',
    baseUrl: 'https://api.anthropic.com',
    keysUrl: 'https://console.anthropic.com/settings/keys',
  },
  { name: 'OpenRouter', baseUrl: 'https://openrouter.ai/api/v1', keysUrl: 'https://openrouter.ai/keys' },
  {
    name: 'Google Gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keysUrl: 'https://aistudio.google.com/apikey',
  },
  { name: 'Mistral', baseUrl: 'https://api.mistral.ai/v1', keysUrl: 'https://console.mistral.ai/api-keys' },
  { name: 'Groq', baseUrl: 'https://api.groq.com/openai/v1', keysUrl: 'https://console.groq.com/keys' },
  { name: 'Ollama', baseUrl: 'http://localhost:11434/v1' },
];
