import { ModelPattern, PatternList } from '../../common/text/model-pattern.js';

/** Rule of an upstream for the models that match a pattern. */
export interface ModelRule {
  readonly model: string;
  /** Name that the upstream gets; null for the name that the client requested. */
  readonly as: string | null;
}

/** Compiled rules of one upstream. */
export class ModelRules {
  readonly rules: readonly CompiledRule[];
  private readonly patterns: PatternList;
  private lastModel?: string = undefined;
  private lastRule?: CompiledRule = undefined;

  constructor(rules: readonly ModelRule[]) {
    this.rules = rules.map((rule) => new CompiledRule(rule));
    this.patterns = new PatternList(this.rules.map(({ pattern }) => pattern));
  }

  /** @returns the first rule that matches a model. The last one is remembered: a request looks for it twice. */
  find(model: string): CompiledRule | undefined {
    if (model !== this.lastModel) {
      this.lastModel = model;
      this.lastRule = this.rules[this.patterns.find(model)];
    }
    return this.lastRule;
  }

  /** Whether the list of models depends on the models of the upstream. */
  get dependsOnUpstream(): boolean {
    return this.rules.some((rule) => rule.listsUpstreamModels);
  }
}

/** Compiled rule. */
export class CompiledRule {
  readonly pattern: ModelPattern;
  private readonly as: ModelPattern | null;

  constructor({ model, as }: ModelRule) {
    this.pattern = new ModelPattern(model);
    this.as = as === null ? null : new ModelPattern(as);
  }

  /** Whether the rule is for one model only. */
  get isExact(): boolean {
    return this.pattern.stars === 0;
  }

  /**
   * Whether every model of the upstream that the rule leads to has one name for clients. A fixed `as` has many, and with
   * several stars nobody knows which part of the name belongs to which star.
   */
  get listsUpstreamModels(): boolean {
    return !this.isExact && (this.as === null || (this.as.stars === 1 && this.pattern.stars === 1));
  }

  /** @param model matches the pattern @returns the name that the upstream gets */
  toUpstream(model: string): string {
    if (this.as === null) return model;
    return this.as.stars === 0 ? this.as.text : this.as.fill(this.pattern.capture(model)!);
  }

  /**
   * @param upstreamModel name in the upstream's list
   * @returns the name that leads a client to this model; undefined if the rule does not lead there
   */
  toClient(upstreamModel: string): string | undefined {
    if (!this.listsUpstreamModels) return undefined;
    if (this.as === null) return this.pattern.matches(upstreamModel) ? upstreamModel : undefined;
    const captured = this.as.capture(upstreamModel);
    return captured === undefined ? undefined : this.pattern.fill(captured);
  }
}
