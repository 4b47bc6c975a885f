/** A model service that Hookline knows by the id that Cline's catalogue has for it. */
export interface ModelService {
  readonly id: string;
  /** The display name. */
  readonly label: string;
  readonly wire: 'anthropic' | 'chat' | 'google' | 'openai';
  /** May have variables of the environment in braces. */
  readonly baseUrl: string;
  /** Environment variables for the key, in order; none when the variable is one that other tools use, too. */
  readonly keyVariables: readonly string[];
}

/** One service a line: id, name, wire format, address, variables of the key. */
const TABLE = `
302ai | 302.AI | chat | https://api.302.ai/v1 | 302AI_API_KEY
abacus | Abacus | chat | https://routellm.abacus.ai/v1 | ABACUS_API_KEY
abliteration-ai | abliteration.ai | chat | https://api.abliteration.ai/v1 | ABLIT_KEY
above | above.dev | chat | https://api.above.dev/v1 | ABOVE_API_KEY
agentrouter | AgentRouter | chat | https://agentrouter.org/v1 | AGENTROUTER_API_KEY
agnes | Agnes AI | chat | https://apihub.agnes-ai.com/v1 | AGNES_API_KEY
ai-router | AI-ROUTER | chat | https://api.ai-router.dev/v1 | AI_ROUTER_API_KEY
ai21 | AI21 Labs | chat | https://api.ai21.com/studio/v1 | AI21_API_KEY
aiand | ai& | chat | https://api.aiand.com/v1 | AIAND_API_KEY
aihubmix | AI Hub Mix | chat | https://api.aihubmix.com/v1 | AIHUBMIX_API_KEY
ainetcafe | ainetcafe | chat | https://microquickjs.com/v1 | AINETCAFE_API_KEY
aixy | Aixy | chat | https://api.aixy-gateway.com/v1 | AIXY_API_KEY
aki-io | AKI.IO | chat | https://aki.io/v1 | AKI_IO_API_KEY
alibaba | Alibaba | chat | https://dashscope-intl.aliyuncs.com/compatible-mode/v1 | DASHSCOPE_API_KEY
alibaba-cn | Alibaba (China) | chat | https://dashscope.aliyuncs.com/compatible-mode/v1 | DASHSCOPE_API_KEY
alibaba-coding-plan | Alibaba Coding Plan | chat | https://coding-intl.dashscope.aliyuncs.com/v1 | ALIBABA_CODING_PLAN_API_KEY
alibaba-coding-plan-cn | Alibaba Coding Plan (China) | chat | https://coding.dashscope.aliyuncs.com/v1 | ALIBABA_CODING_PLAN_API_KEY
alibaba-token-plan | Alibaba Token Plan | chat | https://token-plan.ap-southeast-1.maas.aliyuncs.com/compatible-mode/v1 | ALIBABA_TOKEN_PLAN_API_KEY
alibaba-token-plan-cn | Alibaba Token Plan (China) | chat | https://token-plan.cn-beijing.maas.aliyuncs.com/compatible-mode/v1 | ALIBABA_TOKEN_PLAN_API_KEY
ambient | Ambient | chat | https://api.ambient.xyz/v1 | AMBIENT_API_KEY
amd | AMD | chat | https://developer.amd.com.cn/radeon/api/v1 | AMD_API_KEY
anyapi | AnyAPI | chat | https://api.anyapi.ai/v1 | ANYAPI_API_KEY
arcee | Arcee | chat | https://api.arcee.ai/api/v1 | ARCEE_API_KEY
atomic-chat | Atomic Chat | chat | http://127.0.0.1:1337/v1 | ATOMIC_CHAT_API_KEY
auriko | Auriko | chat | https://api.auriko.ai/v1 | AURIKO_API_KEY
bailing | Bailing | chat | https://api.tbox.cn/api/llm/v1 | BAILING_API_TOKEN
baseten | Baseten | chat | https://inference.baseten.co/v1 | BASETEN_API_KEY
berget | Berget.AI | chat | https://api.berget.ai/v1 | BERGET_API_KEY
blueclaw | Blue Claw | chat | https://openai.blueclaw.network/v1 | BLUECLAW_API_KEY
bothub | Bothub | chat | https://openai.bothub.ru/v1 | BOTHUB_API_KEY
cerebras | Cerebras | chat | https://api.cerebras.ai/v1 | CEREBRAS_API_KEY
chutes | Chutes | chat | https://llm.chutes.ai/v1 | CHUTES_API_KEY
clarifai | Clarifai | chat | https://api.clarifai.com/v2/ext/openai/v1 | CLARIFAI_PAT
claudinio | Claudinio | chat | https://api.claudin.io/v1 | CLAUDINIO_API_KEY
cline | Cline Usage-Billing | chat | https://api.cline.bot/api/v1 | CLINE_API_KEY
cline-pass | ClinePass | chat | https://api.cline.bot/api/v1 | CLINE_API_KEY
cloudferro-sherlock | CloudFerro Sherlock | chat | https://api-sherlock.cloudferro.com/openai/v1 | CLOUDFERRO_SHERLOCK_API_KEY
cloudflare-workers-ai | Cloudflare Workers AI | chat | https://api.cloudflare.com/client/v4/accounts/{CLOUDFLARE_ACCOUNT_ID}/ai/v1 |
coralbricks | CoralBricks | chat | https://inference.coralbricks.ai/v1 | CORAL_API_KEY
cortecs | Cortecs | chat | https://api.cortecs.ai/v1 | CORTECS_API_KEY
crof | CrofAI | chat | https://crof.ai/v1 | CROF_API_KEY
crossmodel | CrossModel | chat | https://api.crossmodel.ai/v1 | CROSSMODEL_API_KEY
crusoe | Crusoe | chat | https://api.inference.crusoecloud.com/v1 | CRUSOE_API_KEY
daoxe | DaoXE | chat | https://daoxe.com/v1 | DAOXE_API_KEY
databricks | Databricks | chat | https://{DATABRICKS_HOST}/ai-gateway/mlflow/v1 |
deepseek | DeepSeek | chat | https://api.deepseek.com/v1 | DEEPSEEK_API_KEY
digitalocean | DigitalOcean | chat | https://inference.do-ai.run/v1 |
dinference | DInference | chat | https://api.dinference.com/v1 | DINFERENCE_API_KEY
doubao | Doubao | chat | https://ark.cn-beijing.volces.com/api/v3 | DOUBAO_API_KEY
drun | D.Run (China) | chat | https://chat.d.run/v1 | DRUN_API_KEY
ebcloud | EBCloud | chat | https://maas-api.ebcloud.com/v1 | EBCLOUD_API_KEY
echo | Echo | chat | https://echo.tracerml.ai/v1 | ECHO_API_KEY
edenai | Eden AI | chat | https://api.edenai.run/v3 | EDENAI_API_KEY
empiriolabs | EmpirioLabs AI | chat | https://api.empiriolabs.ai/v1 | EMPIRIOLABS_API_KEY
evroc | evroc | chat | https://models.think.evroc.com/v1 | EVROC_API_KEY
fastrouter | FastRouter | chat | https://go.fastrouter.ai/api/v1 | FASTROUTER_API_KEY
fireworks | Fireworks AI | chat | https://api.fireworks.ai/inference/v1 | FIREWORKS_API_KEY
freemodel | FreeModel | anthropic | https://cc.freemodel.dev/v1 | FREEMODEL_API_KEY
friendli | Friendli | chat | https://api.friendli.ai/serverless/v1 | FRIENDLI_TOKEN
frogbot | FrogBot | chat | https://app.frogbot.ai/api/v1 | FROGBOT_API_KEY
github-copilot | GitHub Copilot | chat | https://api.githubcopilot.com |
gmicloud | GMI Cloud | chat | https://api.gmi-serving.com/v1 | GMICLOUD_API_KEY
greenpt | GreenPT | chat | https://api.greenpt.ai/v1 | GREENPT_API_KEY
groq | Groq | chat | https://api.groq.com/openai/v1 | GROQ_API_KEY
helicone | Helicone | chat | https://ai-gateway.helicone.ai/v1 | HELICONE_API_KEY
hetzner | Hetzner | chat | https://inference.hetzner.com/api/v1 | HETZNER_API_KEY
hicap | HiCap | chat | https://api.hicap.ai/v1 | HICAP_API_KEY
hpc-ai | HPC-AI | chat | https://api.hpc-ai.com/inference/v1 | HPC_AI_API_KEY
huawei-cloud-maas | Huawei Cloud MaaS | chat | https://infer-modelarts.cn-southwest-2.myhuaweicloud.com/v1 | HUAWEI_CLOUD_MAAS_API_KEY
huggingface | Hugging Face | chat | https://router.huggingface.co/v1 |
hyper | Charm Hyper | chat | https://hyper.charm.land/v1 | HYPER_API_KEY
iflowcn | iFlow | chat | https://apis.iflow.cn/v1 | IFLOW_API_KEY
impossibl | Impossibl | chat | https://api.impossibl.com/v1 | IMPOSSIBL_API_KEY
inception | Inception | chat | https://api.inceptionlabs.ai/v1 | INCEPTION_API_KEY
inceptron | Inceptron | chat | https://api.inceptron.io/v1 | INCEPTRON_API_KEY
inco | Inco | chat | https://api.inco.ai/v1 | INCO_API_KEY
infer | Infer by Flow7 | openai | https://infer.flow7.org/v1 | INFER_API_KEY
inference | Inference | chat | https://inference.net/v1 | INFERENCE_API_KEY
inferx | InferX | chat | https://model.inferx.net/endpoints/v1 | INFERX_API_KEY
infomaniak | Infomaniak | chat | https://api.infomaniak.com/2/ai/{INFOMANIAK_PRODUCT_ID}/openai/v1 | INFOMANIAK_API_KEY
io-net | IO.NET | chat | https://api.intelligence.io.solutions/api/v1 | IOINTELLIGENCE_API_KEY
iteracompute | IteraCompute | chat | https://api.iteracompute.com/v1 | ITERACOMPUTE_API_KEY
jalapeno | Jalapeno Cloud | chat | https://api.jalapeno-cloud.ai/v1 | JALAPENO_API_KEY
jiekou | Jiekou.AI | chat | https://api.jiekou.ai/openai | JIEKOU_API_KEY
kenari | Kenari | chat | https://kenari.id/v1 | KENARI_API_KEY
kilo | Kilo Gateway | openai | https://api.kilo.ai/api/gateway | KILO_GATEWAY_API_KEY
kimi-code-plan-cn | Kimi For Coding (kimi.com) | chat | https://api.kimi.com/coding/v1 | KIMI_API_KEY
kimi-code-plan-global | Kimi For Coding (kimi.ai) | chat | https://api.kimi.ai/coding/v1 | KIMI_API_KEY
klokintegration | klokintegration.se | chat | https://api-gw.klok.ipaas.se/proxy/kloker-key/v1 | KLOKINTEGRATION_API_KEY
kosmik | Kosmik Compute | chat | https://api.koscompute.com/v1 | KOSMIK_API_KEY
kuae-cloud-coding-plan | KUAE Cloud Coding Plan | chat | https://coding-plan-endpoint.kuaecloud.net/v1 | KUAE_API_KEY
lilac | Lilac | chat | https://api.getlilac.com/v1 | LILAC_API_KEY
litellm | LiteLLM | chat | http://localhost:4000/v1 | LITELLM_API_KEY
llama | Llama | chat | https://api.llama.com/compat/v1 | LLAMA_API_KEY
llmgateway | DevPass (LLM Gateway) | chat | https://api.llmgateway.io/v1 | LLMGATEWAY_API_KEY
llmgateway-providers | LLM Gateway | chat | https://api.llmgateway.io/v1 | LLMGATEWAY_API_KEY
llmtech | LLM Tech | chat | https://api.llmtech.eu/v1 | LLMTECH_API_KEY
llmtr | LLMTR | chat | https://llmtr.com/v1 | LLMTR_API_KEY
lmstudio | LM Studio | chat | http://localhost:1234/v1 | LMSTUDIO_API_KEY
longcat | LongCat | chat | https://api.longcat.chat/openai | LONGCAT_API_KEY
lucidquery | LucidQuery | chat | https://api.lucidquery.com/v1 | LUCIDQUERY_API_KEY
lynkr | Lynkr | chat | http://127.0.0.1:8081/v1 | LYNKR_API_KEY
meganova | Meganova | chat | https://api.meganova.ai/v1 | MEGANOVA_API_KEY
melious | Melious | chat | https://api.melious.ai/v1 | MELIOUS_API_KEY
meta | Meta | openai | https://api.meta.ai/v1 | META_MODEL_API_KEY
minimax | MiniMax (minimax.io) | anthropic | https://api.minimax.io/anthropic/v1 | MINIMAX_API_KEY
minimax-cn | MiniMax (minimax.cn) | anthropic | https://api.minimax.cn/anthropic/v1 | MINIMAX_API_KEY
minimax-cn-coding-plan | MiniMax Token Plan (minimax.cn) | anthropic | https://api.minimax.cn/anthropic/v1 | MINIMAX_API_KEY
minimax-coding-plan | MiniMax Token Plan (minimax.io) | anthropic | https://api.minimax.io/anthropic/v1 | MINIMAX_API_KEY
mistral | Mistral | chat | https://api.mistral.ai/v1 | MISTRAL_API_KEY
mixlayer | Mixlayer | chat | https://models.mixlayer.ai/v1 | MIXLAYER_API_KEY
moark | Moark | chat | https://moark.com/v1 | MOARK_API_KEY
modal | Modal | chat | https://inference.us-west.modal.direct/v1 | MODAL_PROXY_TOKEN
model-oracle-ai | Model Oracle AI | chat | https://api.modeloracle.com/api/v1 | MODEL_ORACLE_API_KEY
modelis | Modelis | chat | https://modelishub.com/v1 | MODELIS_API_KEY
modelscope | ModelScope | chat | https://api-inference.modelscope.cn/v1 | MODELSCOPE_API_KEY
moonshot | Moonshot AI | chat | https://api.moonshot.ai/v1 | MOONSHOT_API_KEY
moonshotai-cn | Moonshot AI (China) | chat | https://api.moonshot.cn/v1 | MOONSHOT_API_KEY
morph | Morph | chat | https://api.morphllm.com/v1 | MORPH_API_KEY
nan | NaN | chat | https://api.nan.builders/v1 | NAN_API_KEY
nano-gpt | NanoGPT | chat | https://nano-gpt.com/api/v1 | NANO_GPT_API_KEY
nearai | NEAR AI Cloud | chat | https://cloud-api.near.ai/v1 | NEARAI_API_KEY
nebius | Nebius Token Factory | chat | https://api.tokenfactory.nebius.com/v1 | NEBIUS_API_KEY
neon | Neon | chat | {NEON_AI_GATEWAY_BASE_URL}/v1 | NEON_AI_GATEWAY_TOKEN
neosmith | NeoSmith | openai | https://router.neosmith.ai/v1 | NEOSMITH_API_KEY
neuralwatt | Neuralwatt | chat | https://api.neuralwatt.com/v1 | NEURALWATT_API_KEY
nousResearch | Nous Research | chat | https://inference-api.nousresearch.com/v1 | NOUS_RESEARCH_API_KEY NOUSRESEARCH_API_KEY
nova | Nova | chat | https://api.nova.amazon.com/v1 | NOVA_API_KEY
novita-ai | NovitaAI | chat | https://api.novita.ai/openai | NOVITA_API_KEY
nvidia | Nvidia | chat | https://integrate.api.nvidia.com/v1 | NVIDIA_API_KEY
oca | Oracle Code Assist | chat | https://code.aiservice.us-chicago-1.oci.oraclecloud.com/20250206/app/litellm | OCA_API_KEY
oci | OCI Generative AI | chat | https://inference.generativeai.us-chicago-1.oci.oraclecloud.com/openai/v1 | OCI_GENAI_API_KEY
ofox | Ofox | chat | https://api.ofox.ai/v1 | OFOX_API_KEY
openai-codex | OpenAI ChatGPT Subscription | openai | https://chatgpt.com/backend-api/codex |
opencode-go | OpenCode Go | chat | https://opencode.ai/zen/go/v1 | OPENCODE_API_KEY
openreason | OpenReason | chat | https://api.openreason.app/v1 | OPENREASON_API_KEY
opper | Opper | chat | https://api.opper.ai/v3/compat | OPPER_API_KEY
orcarouter | OrcaRouter | chat | https://api.orcarouter.ai/v1 | ORCAROUTER_API_KEY
ovhcloud | OVHcloud AI Endpoints | chat | https://oai.endpoints.kepler.ai.cloud.ovh.net/v1 | OVHCLOUD_API_KEY
pendra | Pendra | chat | https://api.pendra.ai/api/v1 | PENDRA_API_KEY
perplexity-agent | Perplexity Agent | openai | https://api.perplexity.ai/v1 | PERPLEXITY_API_KEY
pioneer | Pioneer | chat | https://api.pioneer.ai/v1 | PIONEER_API_KEY
poe | Poe | chat | https://api.poe.com/v1 | POE_API_KEY
poolside | Poolside | chat | https://inference.poolside.ai/v1 | POOLSIDE_API_KEY
privatemode-ai | Privatemode AI | chat | http://localhost:8080/v1 | PRIVATEMODE_API_KEY
qihang-ai | QiHang | chat | https://api.qhaigc.net/v1 | QIHANG_API_KEY
qiniu-ai | Qiniu | chat | https://api.qnaigc.com/v1 | QINIU_API_KEY
qwen | Alibaba Qwen | chat | https://dashscope.aliyuncs.com/compatible-mode/v1 | QWEN_API_KEY
qwen-code | Alibaba Qwen Code | chat | https://dashscope.aliyuncs.com/compatible-mode/v1 |
regolo-ai | Regolo AI | chat | https://api.regolo.ai/v1 | REGOLO_API_KEY
requesty | Requesty | chat | https://router.requesty.ai/v1 | REQUESTY_API_KEY
routing-run | routing.run | chat | https://api.routing.run/v1 | ROUTING_RUN_API_KEY
runinfra | RunInfra | chat | https://api.runinfra.ai/v1 | RUNINFRA_GATEWAY_KEY
sakana | Sakana AI | chat | https://api.sakana.ai/v1 | SAKANA_API_KEY
sambanova | SambaNova | chat | https://api.sambanova.ai/v1 | SAMBANOVA_API_KEY
sarvam | Sarvam AI | chat | https://api.sarvam.ai/v1 | SARVAM_API_KEY
scaleway | Scaleway | chat | https://api.scaleway.ai/v1 | SCALEWAY_API_KEY
scnet-token-plan | SCNet Token Plan | chat | https://api.scnet.cn/api/llm/v1 | SCNET_API_KEY
scx-ai | SCX.ai | chat | https://api.scx.ai/v1 | SCX_API_KEY
sensenova | SenseNova (China) | chat | https://token.sensenova.cn/v1 | SENSENOVA_API_KEY
siliconflow | SiliconFlow | chat | https://api.siliconflow.com/v1 | SILICONFLOW_API_KEY
siliconflow-cn | SiliconFlow (China) | chat | https://api.siliconflow.cn/v1 | SILICONFLOW_CN_API_KEY
snowflake-cortex | Snowflake Cortex | chat | https://{SNOWFLAKE_ACCOUNT}.snowflakecomputing.com/api/v2/cortex/v1 | SNOWFLAKE_CORTEX_PAT
stackit | STACKIT | chat | https://api.openai-compat.model-serving.eu01.onstackit.cloud/v1 | STACKIT_API_KEY
stepfun | StepFun (China) | chat | https://api.stepfun.com/v1 | STEPFUN_API_KEY
stepfun-ai | StepFun (Global) | chat | https://api.stepfun.ai/v1 | STEPFUN_API_KEY
stepfun-ai-step-plan | StepFun Step Plan (Global) | chat | https://api.stepfun.ai/step_plan/v1 | STEPFUN_API_KEY
stepfun-step-plan | StepFun Step Plan (China) | chat | https://api.stepfun.com/step_plan/v1 | STEPFUN_API_KEY
subconscious | Subconscious | anthropic | https://api.subconscious.dev/v1 | SUBCONSCIOUS_API_KEY
submodel | submodel | chat | https://llm.submodel.ai/v1 | SUBMODEL_INSTAGEN_ACCESS_KEY
synthetic | Synthetic | chat | https://api.synthetic.new/openai/v1 | SYNTHETIC_API_KEY
tempr | Tempr | chat | https://api.temprhq.io/v1 | TEMPR_API_KEY
tencent-coding-plan | Tencent Coding Plan (China) | chat | https://api.lkeap.cloud.tencent.com/coding/v3 | TENCENT_CODING_PLAN_API_KEY
tencent-token-plan | Tencent Token Plan | chat | https://api.lkeap.cloud.tencent.com/plan/v3 | TENCENT_TOKEN_PLAN_API_KEY
tencent-tokenhub | Tencent TokenHub | chat | https://tokenhub.tencentmaas.com/v1 | TENCENT_TOKENHUB_API_KEY
tensorx | TensorX | chat | https://api.tensorx.ai/v1 | TENSORX_API_KEY
the-grid-ai | The Grid AI | chat | https://api.thegrid.ai/v1 | THEGRID_API_KEY
thinkingmachines | Thinking Machines | anthropic | https://tinker.thinkingmachines.dev/services/tinker-prod/anthropic/api/v1 | TINKER_API_KEY
tinfoil | Tinfoil | chat | https://inference.tinfoil.sh/v1 | TINFOIL_API_KEY
together | Together AI | chat | https://api.together.xyz/v1 | TOGETHER_API_KEY
tokengo | TokenGo | chat | https://api.tokengo.com/v1 | TOKENGO_API_KEY
tokenrouter | TokenRouter | chat | https://api.tokenrouter.com/v1 | TOKENROUTER_API_KEY
trustedrouter | TrustedRouter | chat | https://api.trustedrouter.com/v1 | TRUSTEDROUTER_API_KEY
umans-ai | Umans AI | chat | https://api.code.umans.ai/v1 | UMANS_AI_API_KEY
umans-ai-coding-plan | Umans AI Coding Plan | chat | https://api.code.umans.ai/v1 | UMANS_AI_CODING_PLAN_API_KEY
unorouter | UnoRouter | chat | https://api.unorouter.com/v1 | UNOROUTER_API_KEY
upstage | Upstage | chat | https://api.upstage.ai/v1/solar | UPSTAGE_API_KEY
v0 | Vercel V0 | chat | https://api.v0.dev/v1 | V0_API_KEY
vancine | Vancine | chat | https://vancine.com/v1 | VANCINE_API_KEY
vercel-ai-gateway | Vercel AI Gateway | chat | https://ai-gateway.vercel.sh/v1 | AI_GATEWAY_API_KEY
vispark | Vispark | chat | https://api.lab.vispark.in/v1 | VISPARK_LAB_API_KEY
vivgrid | Vivgrid | openai | https://api.vivgrid.com/v1 | VIVGRID_API_KEY
volcengine | Volcengine Ark | chat | https://ark.cn-beijing.volces.com/api/v3 | ARK_API_KEY
volcengine-coding-plan | Volcengine Ark Coding Plan | chat | https://ark.cn-beijing.volces.com/api/coding/v3 | ARK_CODING_PLAN_API_KEY
vultr | Vultr | chat | https://api.vultrinference.com/v1 | VULTR_API_KEY
wafer.ai | Wafer | chat | https://pass.wafer.ai/v1 | WAFER_API_KEY
wallaby | Wallaby | chat | https://api.wallabytoken.com/v1 | WALLABY_API_KEY
wandb | CoreWeave | chat | https://api.inference.wandb.ai/v1 | WANDB_API_KEY
xai | xAI | chat | https://api.x.ai/v1 | XAI_API_KEY
xiaomi | Xiaomi | chat | https://api.xiaomimimo.com/v1 | XIAOMI_API_KEY
xiaomi-token-plan-ams | Xiaomi Token Plan (Europe) | chat | https://token-plan-ams.xiaomimimo.com/v1 | XIAOMI_API_KEY
xiaomi-token-plan-cn | Xiaomi Token Plan (China) | chat | https://token-plan-cn.xiaomimimo.com/v1 | XIAOMI_API_KEY
xiaomi-token-plan-sgp | Xiaomi Token Plan (Singapore) | chat | https://token-plan-sgp.xiaomimimo.com/v1 | XIAOMI_API_KEY
xpersona | Xpersona | chat | https://www.xpersona.co/v1 | XPERSONA_API_KEY
zai | Z.AI | chat | https://api.z.ai/api/paas/v4 | ZHIPU_API_KEY
zai-coding-plan | Z.AI Coding Plan | chat | https://api.z.ai/api/coding/paas/v4 | ZHIPU_API_KEY
zeldoc | Zeldoc | chat | https://api.zeldoc.ai/v1 | ZELDOC_API_KEY
zenifra | Zenifra | chat | https://ai.zenifra.com/v1 | ZENIFRA_AI_KEY
zenmux | ZenMux | chat | https://zenmux.ai/api/v1 | ZENMUX_API_KEY
zhipuai | Zhipu AI | chat | https://open.bigmodel.cn/api/paas/v4 | ZHIPU_API_KEY
zhipuai-coding-plan | Zhipu AI Coding Plan | chat | https://open.bigmodel.cn/api/coding/paas/v4 | ZHIPU_API_KEY
`;

export const MODEL_SERVICES: readonly ModelService[] = TABLE.trim().split('\n').map(parseRow);

function parseRow(line: string): ModelService {
  const [id = '', label = '', wire = '', baseUrl = '', keys = ''] = line
    .split('|')
    .map((cell) => cell.trim());
  const keyVariables = keys === '' ? [] : keys.split(' ');
  return { id, label, wire: readWire(wire), baseUrl, keyVariables };
}

function readWire(wire: string): ModelService['wire'] {
  return wire === 'anthropic' || wire === 'google' || wire === 'openai' ? wire : 'chat';
}
