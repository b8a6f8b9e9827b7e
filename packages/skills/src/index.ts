/** Skills: folders of instructions that a model reads when it needs them. */
export { SkillError, type SkillErrorReason } from "./SkillError.ts"
export * as Skills from "./Skills.ts"
