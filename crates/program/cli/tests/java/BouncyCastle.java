import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.HexFormat;
import java.util.StringJoiner;
import org.bouncycastle.crypto.engines.AESEngine;
import org.bouncycastle.crypto.fpe.FPEFF1Engine;
import org.bouncycastle.crypto.modes.GCMSIVBlockCipher;
import org.bouncycastle.crypto.params.AEADParameters;
import org.bouncycastle.crypto.params.FPEParameters;
import org.bouncycastle.crypto.params.KeyParameter;

/**
 * Answers each line of standard input with a line: numerals or hexadecimal digits. Fields are separated by tabs.
 *
 * <pre>ff1 encrypt|decrypt KEY RADIX TWEAK NUMERALS
 *gcm-siv encrypt|decrypt KEY NONCE AAD TEXT</pre>
 */
public class BouncyCastle {
    private static final HexFormat HEX = HexFormat.of();
    /** The largest radix whose numerals are bytes. Those of a larger one are pairs of bytes. */
    private static final int MAX_BYTE_RADIX = 256;

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        PrintStream answers = new PrintStream(System.out, false);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] fields = line.split("\t", -1);
            boolean encrypts = fields[1].equals("encrypt");
            KeyParameter key = new KeyParameter(HEX.parseHex(fields[2]));
            answers.println(fields[0].equals("ff1") ? ff1(encrypts, key, fields) : gcmSiv(encrypts, key, fields));
        }
        answers.flush();
    }

    private static String ff1(boolean encrypts, KeyParameter key, String[] fields) {
        int radix = Integer.parseInt(fields[3]);
        int width = radix > MAX_BYTE_RADIX ? 2 : 1;
        String[] numerals = fields[5].split(",");
        byte[] bytes = new byte[numerals.length * width];
        for (int i = 0; i < numerals.length; i++) {
            int numeral = Integer.parseInt(numerals[i]);
            bytes[i * width] = (byte) (numeral >> (8 * (width - 1)));
            bytes[i * width + width - 1] = (byte) numeral;
        }
        FPEFF1Engine engine = new FPEFF1Engine();
        engine.init(encrypts, new FPEParameters(key, radix, HEX.parseHex(fields[4])));
        engine.processBlock(bytes, 0, bytes.length, bytes, 0);
        StringJoiner joined = new StringJoiner(",");
        for (int i = 0; i < numerals.length; i++) {
            int high = width == 1 ? 0 : (bytes[i * width] & 0xff) << 8;
            joined.add(Integer.toString(high | (bytes[i * width + width - 1] & 0xff)));
        }
        return joined.toString();
    }

    private static String gcmSiv(boolean encrypts, KeyParameter key, String[] fields) throws Exception {
        GCMSIVBlockCipher cipher = new GCMSIVBlockCipher(new AESEngine());
        cipher.init(encrypts, new AEADParameters(key, 128, HEX.parseHex(fields[3]), HEX.parseHex(fields[4])));
        byte[] text = HEX.parseHex(fields[5]);
        byte[] output = new byte[cipher.getOutputSize(text.length)];
        int length = cipher.processBytes(text, 0, text.length, output, 0);
        length += cipher.doFinal(output, length);
        return HEX.formatHex(output, 0, length);
    }
}
